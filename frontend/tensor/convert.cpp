#include "frontend/tensor/convert.h"

#include <cmath>
#include <limits>

namespace tile_tune::tensor {
namespace {

// A binary format narrower than float: bits of the significand with the implicit one, exponent of the smallest
// normal number, largest finite number.
struct Format {
  int significand_bits;
  int min_exponent;
  double max;
};
constexpr Format kF16{11, -14, 65504.0};
constexpr Format kBF16{8, -126, 0x1.fep127};

double round_to_format(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int last_place = exponent - (format.significand_bits - 1);
  // Scaling by powers of two is exact here: results stay far from the borders of double.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last_place)), last_place);
  if (std::abs(rounded) > format.max) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

template <typename T>
void store_as(std::byte* data, int64_t element, T value) {
  std::memcpy(data + element * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

double round_to(DType type, double value) {
  switch (type) {
    case DType::F16:
      return round_to_format(kF16, value);
    case DType::BF16:
      return round_to_format(kBF16, value);
    case DType::F32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

uint16_t encode_f16(double value) {
  const auto exact = static_cast<float>(round_to_format(kF16, value));
  const uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
  if (std::isnan(exact)) return sign | 0x7e00;
  if (std::isinf(exact)) return sign | 0x7c00;
  return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(std::abs(exact) * 0x1p-112f) >> 13);
}

uint16_t encode_bf16(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xffc0 : 0x7fc0;
  const auto exact = static_cast<float>(round_to_format(kBF16, value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(exact) >> 16);
}

int64_t to_integer(DType type, double value) {
  if (type == DType::Bool) return value != 0;
  if (std::isnan(value)) return 0;
  const int bits = 8 * static_cast<int>(dtype_size(type));
  if (is_signed(type)) {
    const auto high = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    if (value >= std::ldexp(1.0, bits - 1)) return high;
    return value < -std::ldexp(1.0, bits - 1) ? -high - 1 : static_cast<int64_t>(value);
  }
  if (value <= 0) return 0;
  const bool fits = value < std::ldexp(1.0, bits);
  return static_cast<int64_t>(fits ? static_cast<uint64_t>(value) : ~uint64_t{0} >> (64 - bits));
}

void store_real(DType type, std::byte* data, int64_t element, double value) {
  switch (type) {
    case DType::F16:
      return store_as(data, element, encode_f16(value));
    case DType::BF16:
      return store_as(data, element, encode_bf16(value));
    case DType::F32:
      return store_as(data, element, static_cast<float>(value));
    default:
      return store_as(data, element, value);
  }
}

void store_complex(DType type, std::byte* data, int64_t element, std::complex<double> value) {
  store_real(component_type(type), data, 2 * element, value.real());
  store_real(component_type(type), data, 2 * element + 1, value.imag());
}

void store_integer(DType type, std::byte* data, int64_t element, int64_t value) {
  switch (dtype_size(type)) {
    case 1:
      return store_as(data, element, static_cast<uint8_t>(wrap(type, value)));
    case 2:
      return store_as(data, element, static_cast<uint16_t>(value));
    case 4:
      return store_as(data, element, static_cast<uint32_t>(value));
    default:
      return store_as(data, element, value);
  }
}

}  // namespace tile_tune::tensor
