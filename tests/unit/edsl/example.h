// Programs with inputs and the outputs that plain loops compute for them; for any engine that can run a Program.
#pragma once

#include <tile_tune/edsl.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/tensor/array.h"

namespace tile_tune::edsl::test {

/// Numbers in C order. Of small whole numbers, so that every order of summation gives the same float.
struct Grid {
  std::vector<int64_t> shape;
  std::vector<double> values;

  explicit Grid(std::vector<int64_t> shape, double value = 0);
  Grid(std::vector<int64_t> shape, std::vector<double> values) : shape(std::move(shape)), values(std::move(values)) {}
  template <typename... Indices>
  double& operator()(Indices... indices) {
    size_t place = 0, d = 0;
    ((place = place * static_cast<size_t>(shape[d++]) + static_cast<size_t>(indices)), ...);
    return values.at(place);
  }
};

/// Whole numbers in [-6, 6] that look random; `seed` tells tensors apart.
Grid numbers(std::vector<int64_t> shape, int seed = 1);

tensor::Array to_array(const Grid& grid, DType type);
double element(const tensor::Array& array, int64_t place);

inline Tensor input(const char* name, const std::vector<int64_t>& shape, DType type = DType::F32) {
  return Placeholder(type, shape, name);
}

struct Example {
  std::string name;
  Program program;
  std::map<std::string, Grid> inputs, outputs;
  double tolerance = 0;  // relative
};

/// The programs of the user's own document, in its order.
std::vector<Example> document_examples();
/// One program for each rule of the language.
std::vector<Example> rule_examples();

}  // namespace tile_tune::edsl::test
