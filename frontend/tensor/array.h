// A host array: element type, shape and compact elements in C order (last index fastest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/tensor/dtype.h"

namespace tile_tune::tensor {

struct Array {
  DType type = DType::F32;
  std::vector<int64_t> shape;   // empty: one element
  std::vector<std::byte> data;  // element_count() * dtype_size(type) bytes

  static Array zeros(DType type, std::vector<int64_t> shape);
  int64_t element_count() const;
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
};

}  // namespace tile_tune::tensor
