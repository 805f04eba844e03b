// Element types of tensors: in which type two of them meet, and which conversions lose nothing.
//
// Part of the SDK: the standard library is all this header needs. All of it can be used at compile time, and the laws
// of the lattice are asserted here, so that they hold wherever this compiles.
#pragma once

#include <tile_tune/dtype.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tile_tune::tensor {

/// The types of the tensor model. Tensors may be stored as the others, too; these are converted before two tensors
/// meet.
inline constexpr std::array kModelTypes{DType::Bool, DType::I32, DType::I64, DType::F32,
                                        DType::F64,  DType::C32, DType::C64};

namespace detail {

enum class NumberKind { Bool, Signed, Unsigned, Float, Complex };

/// `digits`: of the significand with its first one, or of an integer without its sign; `range`: exponents, as a float
/// type's largest; of complex types those of a part.
struct NumberType {
  NumberKind kind;
  int digits;
  int range;
  size_t size;
};

constexpr NumberType number_type(DType type) {
  switch (type) {
    case DType::Bool:
      return {NumberKind::Bool, 1, 0, 1};
    case DType::I8:
      return {NumberKind::Signed, 7, 0, 1};
    case DType::U8:
      return {NumberKind::Unsigned, 8, 0, 1};
    case DType::I16:
      return {NumberKind::Signed, 15, 0, 2};
    case DType::U16:
      return {NumberKind::Unsigned, 16, 0, 2};
    case DType::I32:
      return {NumberKind::Signed, 31, 0, 4};
    case DType::U32:
      return {NumberKind::Unsigned, 32, 0, 4};
    case DType::I64:
      return {NumberKind::Signed, 63, 0, 8};
    case DType::U64:
      return {NumberKind::Unsigned, 64, 0, 8};
    case DType::F16:
      return {NumberKind::Float, 11, 16, 2};
    case DType::BF16:
      return {NumberKind::Float, 8, 128, 2};
    case DType::F32:
      return {NumberKind::Float, 24, 128, 4};
    case DType::F64:
      return {NumberKind::Float, 53, 1024, 8};
    case DType::C32:
      return {NumberKind::Complex, 24, 128, 8};
    case DType::C64:
      return {NumberKind::Complex, 53, 1024, 16};
  }
  return {NumberKind::Bool, 1, 0, 1};
}

/// numpy.promote_types() of the seven, rows and columns in the order of kModelTypes.
inline constexpr std::array<std::array<DType, 7>, 7> kPromotion = [] {
  constexpr DType B = DType::Bool, I = DType::I32, L = DType::I64, F = DType::F32, D = DType::F64, C = DType::C32,
                  Z = DType::C64;
  return std::array<std::array<DType, 7>, 7>{{{B, I, L, F, D, C, Z},
                                              {I, I, L, D, D, Z, Z},
                                              {L, L, L, D, D, Z, Z},
                                              {F, D, D, F, D, C, Z},
                                              {D, D, D, D, D, Z, Z},
                                              {C, Z, Z, C, Z, C, Z},
                                              {Z, Z, Z, Z, Z, Z, Z}}};
}();

constexpr int model_number(DType type) {
  for (size_t i = 0; i < kModelTypes.size(); ++i)
    if (kModelTypes[i] == type) return static_cast<int>(i);
  return -1;
}

}  // namespace detail

/// Bytes an element takes.
constexpr size_t element_size(DType type) { return detail::number_type(type).size; }

/// The type two of the model's types meet in: a float holds every value of an i32, and 64-bit integers become f64.
/// Nothing for types that are not of the model.
constexpr std::optional<DType> common_type(DType a, DType b) {
  const int row = detail::model_number(a), column = detail::model_number(b);
  if (row < 0 || column < 0) return std::nullopt;
  return detail::kPromotion[static_cast<size_t>(row)][static_cast<size_t>(column)];
}

/// Whether every value of `from` is one of `to`; 64-bit integers count as values of f64, as in common_type(). Of the
/// model's types: whether common_type(from, to) is `to`.
constexpr bool can_convert(DType from, DType to) {
  using detail::NumberKind;
  if (from == to) return true;
  const auto a = detail::number_type(from), b = detail::number_type(to);
  const bool to_float = b.kind == NumberKind::Float || b.kind == NumberKind::Complex;
  switch (a.kind) {
    case NumberKind::Bool:
      return true;
    case NumberKind::Signed:
    case NumberKind::Unsigned:
      if (to_float) return a.digits <= b.digits || (a.digits > 32 && b.digits == 53);
      if (b.kind == NumberKind::Bool || (a.kind == NumberKind::Signed && b.kind == NumberKind::Unsigned)) return false;
      return a.digits <= b.digits;
    case NumberKind::Float:
      return to_float && a.digits <= b.digits && a.range <= b.range;
    case NumberKind::Complex:
      return b.kind == NumberKind::Complex && a.digits <= b.digits;
  }
  return false;
}

namespace detail {

constexpr bool is_lattice() {
  for (const DType a : kModelTypes) {
    if (common_type(a, a) != a) return false;
    for (const DType b : kModelTypes) {
      if (common_type(a, b) != common_type(b, a) || can_convert(a, b) != (common_type(a, b) == b)) return false;
      for (const DType c : kModelTypes)
        if (common_type(*common_type(a, b), c) != common_type(a, *common_type(b, c))) return false;
    }
  }
  return true;
}
static_assert(is_lattice(), "promotion is idempotent, commutative and associative, and conversions are its order");
static_assert(common_type(DType::I32, DType::F32) == DType::F64 && !can_convert(DType::I32, DType::F32));

}  // namespace detail

/// The types of C++ that elements of the model have.
template <typename T>
concept Element =
    std::is_same_v<T, bool> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
    std::is_same_v<T, double> || std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <Element T>
inline constexpr DType kElementType = std::is_same_v<T, bool>                  ? DType::Bool
                                      : std::is_same_v<T, int32_t>             ? DType::I32
                                      : std::is_same_v<T, int64_t>             ? DType::I64
                                      : std::is_same_v<T, float>               ? DType::F32
                                      : std::is_same_v<T, double>              ? DType::F64
                                      : std::is_same_v<T, std::complex<float>> ? DType::C32
                                                                               : DType::C64;

}  // namespace tile_tune::tensor
