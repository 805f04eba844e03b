#include "frontend/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tile_tune {
namespace {

enum class Kind { Bool, Signed, Unsigned, Float, Complex };

struct Info {
  DType type;
  std::string_view name;
  size_t size;
  Kind kind;
  int significand_bits;  // including the implicit one; floats only
};

constexpr std::array<Info, 15> kInfo{{
    {DType::Bool, "bool", 1, Kind::Bool, 0},
    {DType::I8, "i8", 1, Kind::Signed, 0},
    {DType::U8, "u8", 1, Kind::Unsigned, 0},
    {DType::I16, "i16", 2, Kind::Signed, 0},
    {DType::U16, "u16", 2, Kind::Unsigned, 0},
    {DType::I32, "i32", 4, Kind::Signed, 0},
    {DType::U32, "u32", 4, Kind::Unsigned, 0},
    {DType::I64, "i64", 8, Kind::Signed, 0},
    {DType::U64, "u64", 8, Kind::Unsigned, 0},
    {DType::F16, "f16", 2, Kind::Float, 11},
    {DType::BF16, "bf16", 2, Kind::Float, 8},
    {DType::F32, "f32", 4, Kind::Float, 24},
    {DType::F64, "f64", 8, Kind::Float, 53},
    {DType::C32, "c32", 8, Kind::Complex, 24},
    {DType::C64, "c64", 16, Kind::Complex, 53},
}};

const Info& info(DType type) { return kInfo[static_cast<size_t>(type)]; }

}  // namespace

std::string_view dtype_name(DType type) { return info(type).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const auto& entry : kInfo)
    if (entry.name == name) return entry.type;
  return std::nullopt;
}

size_t dtype_size(DType type) { return info(type).size; }
bool is_float(DType type) { return info(type).kind == Kind::Float; }
bool is_integer(DType type) { return info(type).kind == Kind::Signed || info(type).kind == Kind::Unsigned; }
bool is_signed(DType type) { return info(type).kind == Kind::Signed; }
bool is_complex(DType type) { return info(type).kind == Kind::Complex; }

DType component_type(DType type) {
  if (!is_complex(type)) return type;
  return type == DType::C32 ? DType::F32 : DType::F64;
}

double unit_roundoff(DType type) {
  const int bits = info(type).significand_bits;
  return bits == 0 ? 0.0 : std::ldexp(1.0, -bits);
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == DType::C64 || b == DType::C64 || a == DType::F64 || b == DType::F64;
    return wide ? DType::C64 : DType::C32;
  }
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a)) {
    if (dtype_size(a) == dtype_size(b)) return DType::F32;  // f16 with bf16
    return dtype_size(a) > dtype_size(b) ? a : b;
  }
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  const size_t size = std::max(dtype_size(a), dtype_size(b));
  const bool is_signed_result = is_signed(a) || is_signed(b);
  for (const auto& entry : kInfo)
    if (entry.size == size && entry.kind == (is_signed_result ? Kind::Signed : Kind::Unsigned)) return entry.type;
  return a;
}

DType accumulator_type(DType type) {
  if (type == DType::F16 || type == DType::BF16) return DType::F32;
  if (is_integer(type) && dtype_size(type) < 4) return DType::I32;
  return type;
}

}  // namespace tile_tune
