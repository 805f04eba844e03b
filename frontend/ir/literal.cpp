#include "frontend/ir/literal.h"

#include <cmath>
#include <limits>

namespace tile_tune::ir {
namespace {

// Largest finite values of the formats.
double largest(DType type) {
  switch (type) {
    case DType::F16:
      return 65504.0;
    case DType::BF16:
      return 0x1.FEp127;
    case DType::F32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

bool integer_fits(int64_t value, DType type) {
  const size_t bits = 8 * dtype_size(type);
  if (!is_signed(type)) return value >= 0 && (bits == 64 || value < (int64_t{1} << bits));
  return bits == 64 || (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1)));
}

}  // namespace

std::optional<Literal> literal_as(const Literal& literal, DType type) {
  if (is_float(type)) {
    const auto* whole = std::get_if<int64_t>(&literal.value);
    const double value = whole ? static_cast<double>(*whole) : std::get<double>(literal.value);
    if (std::isfinite(value) && std::abs(value) > largest(type)) return std::nullopt;
    return Literal{value};
  }
  const auto* integer = std::get_if<int64_t>(&literal.value);
  if (!integer || !is_integer(type) || !integer_fits(*integer, type)) return std::nullopt;
  return literal;
}

}  // namespace tile_tune::ir
