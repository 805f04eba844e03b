#include "frontend/einsum/promote.h"

namespace tile_tune::einsum {
namespace {

// The narrowest float type from `floating` up that holds every value of `integer`; f64 for 64-bit integers, too.
DType with_integer(DType floating, DType integer) {
  const auto value_bits = 8 * dtype_size(integer) - (is_signed(integer) ? 1 : 0);
  const size_t significand = floating == DType::F16    ? 11
                             : floating == DType::BF16 ? 8
                             : floating == DType::F32  ? 24
                                                       : 53;
  if (value_bits <= significand || floating == DType::F64) return floating;
  return with_integer(floating == DType::F32 ? DType::F64 : DType::F32, integer);
}

}  // namespace

DType common_type(DType a, DType b) {
  if (is_complex(a) || is_complex(b)) {
    const auto part = [](DType type) { return is_complex(type) ? component_type(type) : type; };
    return common_type(part(a), part(b)) == DType::F64 ? DType::C64 : DType::C32;
  }
  if (is_float(a) && is_integer(b)) return with_integer(a, b);
  if (is_integer(a) && is_float(b)) return with_integer(b, a);
  return tile_tune::promote(a, b);
}

bool holds(DType to, DType from) {
  const bool loses_sign_bit =
      is_integer(to) && is_integer(from) && is_signed(to) && !is_signed(from) && dtype_size(to) == dtype_size(from);
  return common_type(from, to) == to && !loses_sign_bit;
}

}  // namespace tile_tune::einsum
