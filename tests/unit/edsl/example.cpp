#include "tests/unit/edsl/example.h"

#include <cstring>
#include <stdexcept>

#include "frontend/tensor/convert.h"

namespace tile_tune::edsl::test {

namespace {

size_t count(const std::vector<int64_t>& shape) {
  size_t elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<size_t>(extent);
  return elements;
}

/// Calls f with a null pointer of the element type.
template <typename F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::Bool:
    case DType::U8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::I8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::I16:
      return f(static_cast<int16_t*>(nullptr));
    case DType::I32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::I64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::F32:
      return f(static_cast<float*>(nullptr));
    case DType::F64:
      return f(static_cast<double*>(nullptr));
    default:
      throw std::logic_error("the examples do not use this type");
  }
}

}  // namespace

Grid::Grid(std::vector<int64_t> shape, double value) : shape(std::move(shape)), values(count(this->shape), value) {}

Grid numbers(std::vector<int64_t> shape, int seed) {
  Grid grid(std::move(shape));
  uint64_t state = static_cast<uint64_t>(seed);
  for (auto& value : grid.values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>((state >> 33) % 13) - 6;
  }
  return grid;
}

tensor::Array to_array(const Grid& grid, DType type) {
  auto array = tensor::Array::zeros(type, grid.shape);
  with_type(type, [&](auto* kind) {
    using T = std::remove_pointer_t<decltype(kind)>;
    for (size_t i = 0; i < grid.values.size(); ++i) array.template as<T>()[i] = static_cast<T>(grid.values[i]);
  });
  return array;
}

double element(const tensor::Array& array, int64_t place) {
  return with_type(array.type, [&](auto* kind) {
    return static_cast<double>(array.template as<std::remove_pointer_t<decltype(kind)>>()[place]);
  });
}

}  // namespace tile_tune::edsl::test
