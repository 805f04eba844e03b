// A host array: element type, shape and elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/tensor/dtype.h"

namespace tile_tune::tensor {

struct Array {
  DType type = DType::F32;
  std::vector<int64_t> shape;         // empty: one element
  std::vector<std::byte> data;        // where strides are given, from the first to the last element in memory
  std::vector<int64_t> strides = {};  // in elements; empty: compact, in C order (last index fastest)
  int64_t origin = 0;                 // where in `data` element (0, ..., 0) is, in elements

  static Array zeros(DType type, std::vector<int64_t> shape);
  int64_t element_count() const;
  /// Where in `data` an element is, counted in C order.
  int64_t place(int64_t element) const;
  /// The same elements, compact and in C order.
  Array in_c_order() const;
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
