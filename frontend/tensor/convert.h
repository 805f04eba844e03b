// Element types as numbers: rounding, and reading and writing one element of a raw buffer.
//
// Real values travel as double, integers as int64_t (U64 as its bit pattern), Bool as 0 or 1. Rounding is to
// nearest, ties to even, once, straight from double: overflow gives infinity as IEEE 754 says.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "frontend/tensor/dtype.h"

namespace tile_tune::tensor {

/// The value nearest to `value` that a float type (F16, BF16, F32, F64) can hold.
double round_to(DType type, double value);

/// 16-bit patterns. Encoding rounds.
uint16_t encode_f16(double value);
uint16_t encode_bf16(double value);
inline float decode_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline float decode_f16(uint16_t bits) {
  const uint32_t magnitude = (bits & 0x7fffu) << 13;
  const uint32_t sign = (bits & 0x8000u) << 16;
  // Exponent 31 means infinity or NaN in f16 and must become 255; the others only move from bias 15 to bias 127,
  // which a multiplication by 2^(127-15) does, for subnormals too.
  if ((bits & 0x7c00u) == 0x7c00u) return std::bit_cast<float>(sign | magnitude | 0x7f800000u);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f) | sign);
}

/// `value` wrapped into the range of an integer type; Bool: whether it is non-zero.
inline int64_t wrap(DType type, int64_t value) {
  switch (type) {
    case DType::Bool:
      return value != 0;
    case DType::I8:
      return static_cast<int8_t>(value);
    case DType::U8:
      return static_cast<uint8_t>(value);
    case DType::I16:
      return static_cast<int16_t>(value);
    case DType::U16:
      return static_cast<uint16_t>(value);
    case DType::I32:
      return static_cast<int32_t>(value);
    case DType::U32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

/// A float as a number of an integer type: truncated, saturated to the type's range (U64 as its bit pattern), NaN as 0;
/// Bool: whether it is not 0, which NaN is not.
int64_t to_integer(DType type, double value);

template <typename T>
T load_as(const std::byte* data, int64_t element) {
  T value;
  std::memcpy(&value, data + element * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Element of a buffer of a float type.
inline double load_real(DType type, const std::byte* data, int64_t element) {
  switch (type) {
    case DType::F16:
      return decode_f16(load_as<uint16_t>(data, element));
    case DType::BF16:
      return decode_bf16(load_as<uint16_t>(data, element));
    case DType::F32:
      return load_as<float>(data, element);
    default:
      return load_as<double>(data, element);
  }
}

/// Element of a buffer of an integer type or Bool.
inline int64_t load_integer(DType type, const std::byte* data, int64_t element) {
  switch (type) {
    case DType::Bool:
      return load_as<uint8_t>(data, element) != 0;
    case DType::I8:
      return load_as<int8_t>(data, element);
    case DType::U8:
      return load_as<uint8_t>(data, element);
    case DType::I16:
      return load_as<int16_t>(data, element);
    case DType::U16:
      return load_as<uint16_t>(data, element);
    case DType::I32:
      return load_as<int32_t>(data, element);
    case DType::U32:
      return load_as<uint32_t>(data, element);
    default:
      return load_as<int64_t>(data, element);
  }
}

/// Element of a buffer of a complex type: the real part, then the imaginary one.
inline std::complex<double> load_complex(DType type, const std::byte* data, int64_t element) {
  const DType part = component_type(type);
  return {load_real(part, data, 2 * element), load_real(part, data, 2 * element + 1)};
}

/// Writes an element, rounded or wrapped to the buffer's type.
void store_real(DType type, std::byte* data, int64_t element, double value);
void store_complex(DType type, std::byte* data, int64_t element, std::complex<double> value);
void store_integer(DType type, std::byte* data, int64_t element, int64_t value);

}  // namespace tile_tune::tensor
