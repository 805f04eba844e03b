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

// 37 elements: a vector or two and a tail that no vector divides.
template <typename T>
std::vector<T> repeated(const std::vector<T>& values) {
  std::vector<T> result;
  while (result.size() < 37) result.push_back(values[result.size() % values.size()]);
  return result;
}

}  // namespace tile_tune::test
