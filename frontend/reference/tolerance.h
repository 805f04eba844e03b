// How far a correct kernel may be from the reference (decision 11): every constant of that judgement.
//
// |got - ref| <= 4 * sqrt(K) * eps(accumulator) * sum|terms| + 2 * eps(output) * |ref| + what the terms themselves
// carry. Rounding errors of K additions behave like a random walk of K steps, hence sqrt(K): any order of summation
// stays well inside, while a lost term, a wrong neighbour or a narrower accumulator does not. Terms that are much alike
// (a mask, a constant) are rounded one way again and again, and errors grow with K: where adding them up one after the
// other loses more than that, twice this loss takes its place.
// A complex number has one bound for both parts, each of which must keep to it: |term| and |ref| above are then the
// larger part's, and eps that of a part. Parts mix in every product, so the larger one sets the rounding of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/tensor/dtype.h"

namespace tile_tune::reference {

/// Of a sum or product: times sqrt(K) ulps of the accumulator at the sum of the terms' magnitudes.
inline constexpr double kReductionUlps = 4;
/// Times what a sum loses where its terms are added one after the other, if that is more.
inline constexpr double kSumsInTurn = 2;
/// Of a result that is not exact: its rounding to the output's type, and the reference's own.
inline constexpr double kOutputUlps = 2;
/// Of + - * / within an expression, where a kernel may fuse, contract or multiply by a reciprocal.
inline constexpr double kArithmeticUlps = 1;
/// Of exp, tanh, sqrt and their like.
inline constexpr double kTranscendentalUlps = 4;
/// Of lgamma, whose zeros at negative numbers are where two large parts cancel (docs/functions.md).
inline constexpr double kLgammaAbsolute = 1e-10;
/// Of the reference's own sin, cos and tan: from this argument on glibc reduces it by its long pi (branred), which
/// leaves that much next to multiples of pi/2 (2.36: 2.3e-30 of sin(1.734777156087391e21), which is -4.1e-17).
inline constexpr double kLongReductionFrom = 105414350, kLongReductionError = 0x1p-98;

/// What rounding to a float type loses, and from where on it gives infinity; zeros for other types.
struct Precision {
  double epsilon = 0;             // distance from 1 to the next number: F32 2^-23
  double smallest_subnormal = 0;  // spacing near 0
  double largest = 0;

  double least_normal() const { return smallest_subnormal / epsilon; }
};

inline Precision precision(DType type) {
  switch (type) {
    case DType::F16:
      return {0x1p-10, 0x1p-24, 65504};
    case DType::BF16:
      return {0x1p-7, 0x1p-133, 0x1.fep127};
    case DType::F32:
    case DType::C32:
      return {0x1p-23, 0x1p-149, 0x1.fffffep127};
    case DType::F64:
    case DType::C64:
      return {0x1p-52, 0x1p-1074, 0x1.fffffffffffffp1023};
    default:
      return {};
  }
}

/// An upper bound of one unit in the last place of a number of this magnitude.
inline double ulp(const Precision& type, double magnitude) {
  return std::max(type.epsilon * magnitude, type.smallest_subnormal);
}

}  // namespace tile_tune::reference
