#include "codegen/lower/conversion.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "codegen/lower/named.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::strict_float;
using Halide::Type;

Expr number(const Type& type, double value) { return Halide::Internal::make_const(type, value); }

// ---- to integers ----

// Each is one instruction of x86, of which NaN gives the bound.
Expr at_least(const Expr& x, const Expr& bound) { return Halide::select(strict_float(x > bound), x, bound); }
Expr bounded_above(const Expr& x, const Expr& bound) { return Halide::select(strict_float(x < bound), x, bound); }

// Both bounds of the type are floats: clamped to them, a number fits the instructions that convert to 32 bits, and
// what these give fits the type. A clamped NaN is 0 already where that is a bound, and else made 0 in 32 bits, before
// narrower ones are packed: 4096 f32 to int16 then take 190 ns, with AVX2 350 (with the mask on the packed integers 200
// and 430, with the positive and the negative part clamped apart, which makes 0 of NaN, 280 and 450; AMD EPYC (Zen 5),
// 2026-11-23).
Expr clamped_integer(const Expr& x, const Type& type) {
  const double high = std::ldexp(1.0, type.bits() - (type.is_int() ? 1 : 0)) - 1;
  const Expr inside =
      bounded_above(at_least(x, number(x.type(), type.is_int() ? -high - 1 : 0)), number(x.type(), high));
  if (type == Halide::UInt(32)) return Halide::cast(type, inside);
  Expr converted = Halide::cast(Halide::Int(32), inside);
  if (type.is_int()) converted = Halide::select(not_a_number(x), 0, converted);
  return Halide::saturating_cast(type, converted);
}

// The type's largest value lies between floats: it is chosen above the last float before it. There conversions are
// undefined, so that nothing may be done with what they give but to choose it or not. Of the forms that this can have
// each is the fastest of its kind: 4096 f32 to int32 take 145 ns, with AVX2 255, where the plain conversion takes 90
// and 105 (and with the choice made by floats for int32, too, 155 and 295; AMD EPYC (Zen 5), 2026-11-23).
Expr bounded_integer(const Expr& given, const Type& type) {
  return named(given, [&](const Expr& x) {
    const double beyond = std::ldexp(1.0, type.bits() - (type.is_int() ? 1 : 0));
    const double last = x.type().bits() == 32 ? std::nextafter(static_cast<float>(beyond), 0.0F)  //
                                              : std::nextafter(beyond, 0.0);
    const Expr above = strict_float(x > number(x.type(), last)), is_nan = not_a_number(x);
    const Expr bounded = at_least(x, number(x.type(), type.is_int() ? -beyond : 0));
    if (type.is_uint()) return Halide::select(above, type.max(), Halide::cast(type, bounded));
    if (type.bits() > 32) {
      const Expr converted = Halide::cast(type, Halide::select(is_nan, number(x.type(), 0), bounded));
      return Halide::select(above, type.max(), converted);
    }
    // Positive floats are in the order of their bits as integers, which are compared by other units than floats.
    const Expr bits_above = Halide::reinterpret(type, x) > std::bit_cast<int32_t>(static_cast<float>(last));
    return Halide::select(!is_nan && bits_above, type.max(),
                          Halide::select(is_nan, Halide::Internal::make_zero(type), Halide::cast(type, bounded)));
  });
}

Expr to_integer(const Expr& value, const Type& type) {
  const Expr x = value.type().bits() < 32 ? convert(value, Halide::Float(32)) : value;
  const bool fits = type.bits() <= (x.type().bits() == 32 ? 16 : 32);
  return fits ? named(x, [&](const Expr& y) { return clamped_integer(y, type); }) : bounded_integer(x, type);
}

// ---- between floats ----

/// Of a float type: the bits of its infinity, and a word of its sign bit.
uint64_t infinity_bits(const Type& type) {
  return type.bits() == 16 ? 0x7c00 : type.bits() == 32 ? 0x7f800000 : 0x7ff0000000000000;
}
uint64_t sign_bit(const Type& type) { return uint64_t{1} << (type.bits() - 1); }

/// The bits of the least number that rounds to infinity in a narrower type: half a step above its largest one,
/// 2^16 - 2^4 for f16 and 2^128 - 2^103 for f32.
uint64_t beyond_bits(const Type& from, const Type& to) {
  if (to.bits() > from.bits()) return infinity_bits(from);
  if (from.bits() == 32) return std::bit_cast<uint32_t>(65520.0f);
  return std::bit_cast<uint64_t>(0x1.ffffffp127);
}

// LLVM takes for granted that conversions between float types, and selects between floats, meet no NaN or infinity:
// these are chosen among words of bits.
Expr between_floats(const Expr& value, const Type& type) {
  const Type from = value.type();
  const Type word = Halide::UInt(from.bits()), result = Halide::UInt(type.bits());
  const auto given = [&](uint64_t bits) { return Halide::Internal::make_const(word, bits); };
  const auto gives = [&](uint64_t bits) { return Halide::Internal::make_const(result, bits); };
  const Expr bits = Halide::reinterpret(word, value), magnitude = bits & given(sign_bit(from) - 1);
  const uint64_t infinite = infinity_bits(type);
  const Expr converted = Halide::reinterpret(result, Halide::cast(type, value));
  const Expr special = Halide::select(magnitude > given(infinity_bits(from)), gives(infinite | (infinite >> 1)),
                                      bits < given(sign_bit(from)), gives(infinite), gives(infinite | sign_bit(type)));
  return Halide::reinterpret(type, Halide::select(magnitude < given(beyond_bits(from, type)), converted, special));
}

// `narrow`, or NaN where `wide` is.
Expr quiet(const Expr& narrow, const Expr& wide) {
  const Type word = Halide::UInt(narrow.type().bits()), bits = Halide::UInt(wide.type().bits());
  const auto limit = [&](uint64_t magnitude) { return Halide::Internal::make_const(bits, magnitude); };
  const Expr is_nan =
      (Halide::reinterpret(bits, wide) & limit(sign_bit(wide.type()) - 1)) > limit(infinity_bits(wide.type()));
  const Expr nan = Halide::Internal::make_const(word, 0x7fc0);
  return Halide::reinterpret(narrow.type(), Halide::select(is_nan, nan, Halide::reinterpret(word, narrow)));
}

// f64 as the f32 from which rounding to a half gives what rounding at once would: cut towards zero, with the last bit
// set where that lost something ("round to odd").
Expr rounded_to_odd(const Expr& given) {
  return named(given, [](const Expr& x) {
    return named(between_floats(x, Halide::Float(32)), [&](const Expr& nearest) {
      const Expr back = between_floats(nearest, Halide::Float(64));
      const auto magnitude = [](const Expr& y) {
        const Type word = Halide::UInt(64);
        return Halide::reinterpret(word, y) & Halide::Internal::make_const(word, sign_bit(y.type()) - 1);
      };
      const Expr bits = Halide::reinterpret<uint32_t>(nearest);
      const Expr cut = Halide::select(magnitude(back) > magnitude(x), bits - 1, bits);
      const Expr odd = Halide::select(magnitude(back) != magnitude(x), cut | 1, cut);
      return Halide::reinterpret<float>(Halide::select(not_a_number(x), bits, odd));
    });
  });
}

Expr to_float(const Expr& value, const Type& type) {
  const Type from = value.type(), single = Halide::Float(32);
  // Halves are made of f32 alone.
  if (type.bits() == 16 && from != single)
    return to_float(from == Halide::Float(64) ? rounded_to_odd(value) : to_float(value, single), type);
  if (!from.is_float()) return Halide::cast(type, value);
  if (from.bits() == 16 && type != single) return to_float(to_float(value, single), type);
  // Halide itself goes between bf16 and f32 by their bits, in which rounding makes another number of some NaN.
  if (from.is_bfloat()) return Halide::cast(type, value);
  if (type.is_bfloat()) return quiet(Halide::cast(type, value), value);
  return between_floats(value, type);
}

}  // namespace

Expr convert(const Expr& value, const Type& type) {
  const Type from = value.type();
  if (from == type) return value;
  if (type.is_bool()) return !strict_float(value == Halide::Internal::make_zero(from));
  if (type.is_float()) return to_float(value, type);
  return from.is_float() ? to_integer(value, type) : Halide::cast(type, value);
}

Expr not_a_number(const Expr& x) { return strict_float(Halide::is_nan(x)); }

}  // namespace tile_tune::codegen
