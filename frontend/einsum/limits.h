// How large an einsum may be. More is a mistake or an attack, and would only be found out late and slowly.
#pragma once

#include <cstddef>

namespace tile_tune::einsum {

inline constexpr size_t kMaxOperands = 1000;
/// As many as TC's tensors have; a step of two of them has at most 64 indices.
inline constexpr size_t kMaxDimensions = 32;

}  // namespace tile_tune::einsum
