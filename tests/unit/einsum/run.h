// Runs einsums by the reference interpreter, and what they must give by loops of our own.
#pragma once

#include <catch2/catch.hpp>
#include <complex>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/einsum/einsum.h"
#include "frontend/reference/reference.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::einsum {

using Shape = std::vector<int64_t>;

inline ir::Program program_of(std::string_view text, const Known& known = {}) {
  auto parsed = parse(text);
  if (!parsed) FAIL(render(parsed.error()));
  auto made = make_program(*parsed, known);
  if (!made) FAIL(render(made.error()));
  auto bound = ir::bind(made->program, made->sizes);
  if (!bound) FAIL(render(bound.error()));
  return std::move(*bound);
}

/// Small integers of both signs: sums and products of few are exact in every type.
inline double pattern(int64_t i, size_t operand) {
  return static_cast<double>((i * 7 + static_cast<int64_t>(operand) * 3) % 11) - 5;
}

inline tensor::Array filled(DType type, const Shape& shape, size_t operand) {
  auto array = tensor::Array::zeros(type, shape);
  for (int64_t i = 0; i < array.element_count(); ++i) {
    const double value = pattern(i, operand);
    if (is_float(type))
      tensor::store_real(type, array.data.data(), i, value);
    else if (is_complex(type))
      tensor::store_complex(type, array.data.data(), i, {value, pattern(i + 4, operand)});
    else
      tensor::store_integer(type, array.data.data(), i, static_cast<int64_t>(value));
  }
  return array;
}

inline tensor::Array evaluated(const ir::Program& program, const std::vector<tensor::Array>& arrays) {
  reference::Inputs inputs;
  for (size_t i = 0; i < arrays.size(); ++i) inputs.emplace(program.inputs[i], arrays[i]);
  const auto outputs = reference::evaluate(program, inputs);
  if (!outputs) FAIL(render(outputs.error()));
  return reference::to_array(program, outputs->front());
}

inline std::complex<double> element(const tensor::Array& array, int64_t i) {
  if (is_complex(array.type)) return tensor::load_complex(array.type, array.data.data(), i);
  if (is_float(array.type)) return tensor::load_real(array.type, array.data.data(), i);
  return static_cast<double>(tensor::load_integer(array.type, array.data.data(), i));
}

/// The definition: for every assignment of all labels the product of the operands' elements is added to the result's.
/// A capital letter stands for an axis of `...`: an operand's extent there may be 1.
inline std::vector<std::complex<double>> naive(const std::vector<std::string>& terms, const std::string& result,
                                               const std::vector<tensor::Array>& arrays, Shape& shape) {
  std::map<char, int64_t> extents, values;
  for (size_t t = 0; t < terms.size(); ++t)
    for (size_t d = 0; d < terms[t].size(); ++d) {
      auto& extent = extents.emplace(terms[t][d], 1).first->second;
      if (arrays[t].shape[d] != 1) extent = arrays[t].shape[d];
    }
  const auto offset = [&](const std::string& term, const Shape& of) {
    int64_t position = 0;
    for (size_t d = 0; d < term.size(); ++d) position = position * of[d] + (of[d] == 1 ? 0 : values[term[d]]);
    return position;
  };
  shape.clear();
  int64_t count = 1;
  for (const char label : result) shape.push_back(extents.at(label));
  for (const int64_t extent : shape) count *= extent;
  std::vector<std::complex<double>> sums(static_cast<size_t>(count));
  const std::vector<std::pair<char, int64_t>> labels(extents.begin(), extents.end());
  const std::function<void(size_t)> loop = [&](size_t depth) {
    if (depth == labels.size()) {
      std::complex<double> product = 1;
      for (size_t t = 0; t < terms.size(); ++t) product *= element(arrays[t], offset(terms[t], arrays[t].shape));
      sums[static_cast<size_t>(offset(result, shape))] += product;
      return;
    }
    for (int64_t v = 0; v < labels[depth].second; ++v) {
      values[labels[depth].first] = v;
      loop(depth + 1);
    }
  };
  loop(0);
  return sums;
}

}  // namespace tile_tune::einsum
