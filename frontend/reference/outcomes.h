// What a right kernel may give beside the reference's value, because the reference has more range.
//
// The reference computes in double. Where a number leaves the normal range of the type that a kernel computes in, the
// kernel has an infinity or a zero instead, and goes on with it: 1 / (1 + exp(95)) is 5.5e-42 or 0 in f32. Each value
// therefore says which of these it may be as well; operations are applied to them all. The value itself keeps its
// bound.
#pragma once

#include <cmath>
#include <cstdint>

#include "frontend/reference/tolerance.h"

namespace tile_tune::reference {

/// A set of these.
using Outcomes = uint8_t;
inline constexpr Outcomes kPositiveInfinity = 1, kNegativeInfinity = 2, kNotANumber = 4;
inline constexpr Outcomes kZero = 8;        // of either sign
inline constexpr Outcomes kAnything = 16;   // nothing can be said
inline constexpr Outcomes kOtherZero = 32;  // where it is 0, the zero of the other sign
inline constexpr Outcomes kInfinities = kPositiveInfinity | kNegativeInfinity;

inline Outcomes infinity_of_sign(double value) { return std::signbit(value) ? kNegativeInfinity : kPositiveInfinity; }

/// What a finite number within `error` of `value` may become in a type, once it leaves its normal range.
inline Outcomes outside_range(const Precision& type, double value, double error) {
  const double magnitude = std::abs(value);
  if (magnitude + error <= type.largest && (magnitude >= type.least_normal() || magnitude == 0)) return 0;
  if (!std::isfinite(value)) return 0;
  if (magnitude + error > type.largest) return error > magnitude ? kInfinities : infinity_of_sign(value);
  return kZero;
}

/// Whether `got` is one of these.
inline bool admits(Outcomes outcomes, double got) {
  if (outcomes & kAnything) return true;
  if (std::isnan(got)) return outcomes & kNotANumber;
  if (std::isinf(got)) return outcomes & infinity_of_sign(got);
  return got == 0 && (outcomes & kZero);
}

/// Calls `visit` with `value` and each of the outcomes.
template <typename Visit>
void for_each_outcome(double value, Outcomes also, const Visit& visit) {
  visit(value);
  if (also & kPositiveInfinity) visit(double{INFINITY});
  if (also & kNegativeInfinity) visit(-double{INFINITY});
  if (also & kNotANumber) visit(double{NAN});
  if (also & kZero) {
    visit(0.0);
    visit(-0.0);
  }
  if ((also & kOtherZero) && value == 0) visit(-value);
}

/// What products of some of the factors, in any order, may come to.
class PartialProducts {
 public:
  void add(double factor) {
    const double magnitude = std::abs(factor);
    finite_ &= std::isfinite(factor);
    has_zero_ |= magnitude == 0;
    if (magnitude > 1) most_ *= magnitude;
    if (magnitude < 1 && magnitude > 0) least_ *= magnitude;
  }

  bool all_finite() const { return finite_; }

  /// What the product of all may be in a type; `terms` products may be summed on the way. Adds to `error` what passing
  /// through subnormal numbers may cost.
  Outcomes outside_range(const Precision& type, double product, double& error, double terms = 1) const {
    const bool over = most_ * terms > type.largest, under = least_ < type.least_normal();
    if ((!over && !under) || std::isnan(most_)) return 0;
    // Double was left as well: the product is not known.
    if (finite_ && (!std::isfinite(product) || (product == 0 && !has_zero_))) return kAnything;
    Outcomes result = 0;
    if (over) result |= infinity_of_sign(product) | (has_zero_ || under ? kNotANumber : 0);
    if (under) result |= kZero;
    if (under && finite_) error += 2 * std::abs(product);
    return result;
  }

 private:
  double most_ = 1, least_ = 1;
  bool finite_ = true, has_zero_ = false;
};

}  // namespace tile_tune::reference
