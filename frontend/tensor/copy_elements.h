// Elements from one place in memory to another, each with strides of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frontend/tensor/dtype.h"

namespace tile_tune::tensor {

/// The strides of a compact array, in elements: the last index fastest, or the first one.
std::vector<int64_t> c_strides(const std::vector<int64_t>& shape);
std::vector<int64_t> fortran_strides(const std::vector<int64_t>& shape);

/// Element (0, ..., 0) of an array, and its strides in elements.
template <typename Byte>
struct View {
  Byte* elements;
  std::vector<int64_t> strides;
};

/// In blocks, as far as elements are neighbours on both sides. The two have no memory in common.
void copy_elements(const View<const std::byte>& from, const View<std::byte>& to, const std::vector<int64_t>& shape,
                   DType type);

}  // namespace tile_tune::tensor
