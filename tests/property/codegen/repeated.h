// Inputs of chosen values, long enough for vectors and a tail.
#pragma once

#include <cstring>
#include <vector>

#include "frontend/tensor/array.h"

namespace tile_tune::test {

template <typename T>
tensor::Array array_of(DType type, const std::vector<T>& values) {
  auto array = tensor::Array::zeros(type, {static_cast<int64_t>(values.size())});
  std::memcpy(array.data.data(), values.data(), values.size() * sizeof(T));
  return array;
}

/// Of this shape, the values over and over; of complex elements each part has one.
inline tensor::Array filled(DType type, const std::vector<int64_t>& shape, const std::vector<float>& values) {
  auto array = tensor::Array::zeros(type, shape);
  for (size_t i = 0; i * sizeof(float) < array.data.size(); ++i)
    std::memcpy(array.data.data() + i * sizeof(float), &values[i % values.size()], sizeof(float));
  return array;
}

// 37 elements: a vector or two and a tail that no vector divides.
template <typename T>
std::vector<T> repeated(const std::vector<T>& values) {
  std::vector<T> result;
  while (result.size() < 37) result.push_back(values[result.size() % values.size()]);
  return result;
}

}  // namespace tile_tune::test
