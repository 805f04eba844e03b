#include "frontend/reference/reduction.h"

#include <algorithm>

#include "frontend/reference/complex.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

using ir::Aggregation;

// Smallest or largest value of an integer type.
int64_t integer_limit(DType type, bool largest) {
  if (type == DType::Bool) return largest;
  const int bits = 8 * static_cast<int>(dtype_size(type));
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  if (!is_signed(type)) return largest ? static_cast<int64_t>(ones) : 0;
  const auto high = static_cast<int64_t>(ones >> 1);
  return largest ? high : -high - 1;
}

Value identity(Aggregation op, DType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Aggregation::Product:
      return {1, 1, 0};
    case Aggregation::Min:
      return is_float(type) ? Value{infinity, 0, 0} : Value{0, integer_limit(type, true), 0};
    case Aggregation::Max:
      return is_float(type) ? Value{-infinity, 0, 0} : Value{0, integer_limit(type, false), 0};
    default:
      return {};
  }
}

// sum += term, keeping in `compensation` what the addition loses (Knuth's TwoSum, which need not know the larger one).
void add_compensated(double& sum, double& compensation, double term) {
  const double total = sum + term, added = total - sum;
  compensation += (sum - (total - added)) + (term - added);
  sum = total;
}

// sum += term in a kernel's type.
void add_rounded(DType accumulator, double& sum, double term) {
  if (component_type(accumulator) == DType::F32)
    sum = static_cast<float>(sum) + static_cast<float>(term);
  else
    sum += term;
}

Value rounded_complex(DType type, const Value& value) {
  const DType part = component_type(type);
  Value result{tensor::round_to(part, value.real), 0, value.error};
  result.imaginary = tensor::round_to(part, value.imaginary);
  result.also = value.also;
  if (value.error > 0) result.error += kOutputUlps * ulp(precision(part), part_magnitude(result));
  if (std::isnan(result.error)) result.error = std::numeric_limits<double>::infinity();
  return result;
}

/// What a finer element holds is not rounded to the type that terms are combined in.
bool loses_digits(const ReductionKind& kind) {
  return precision(kind.accumulator).epsilon > precision(kind.target).epsilon && precision(kind.target).epsilon > 0;
}

}  // namespace

Reduction::Reduction(const ReductionKind& kind)
    : value_(convert(kind.target, kind.accumulator, identity(kind.op, kind.target))) {}

Reduction::Reduction(const ReductionKind& kind, const Value& previous)
    : value_(loses_digits(kind) ? previous : convert(kind.target, kind.accumulator, previous)), has_previous_(true) {
  magnitude_ = part_magnitude(value_);
  add_magnitude(value_.real);
  partial_products_.add(factor_magnitude(value_));
  in_turn_ = value_.real;
  imaginary_in_turn_ = value_.imaginary;
}

void Reduction::add_magnitude(double term) {
  positive_ += std::max(term, 0.0);
  negative_ += std::max(-term, 0.0);
}

void Reduction::add_real(const ReductionKind& kind, const Value& term) {
  switch (kind.op) {
    case Aggregation::Assign:
      value_ = term;
      break;
    case Aggregation::Sum: {
      add_compensated(value_.real, compensation_, term.real);
      add_rounded(kind.accumulator, in_turn_, term.real);
      value_.error += term.error;
      add_magnitude(term.real);
      break;
    }
    case Aggregation::Product:
      value_.error =
          std::abs(value_.real) * term.error + std::abs(term.real) * value_.error + value_.error * term.error;
      value_.real *= term.real;
      partial_products_.add(term.real);
      break;
    case Aggregation::Min:
    case Aggregation::Max: {
      const auto op = kind.op == Aggregation::Max ? ir::Op::Max : ir::Op::Min;
      value_ = value_.also | term.also
                   ? apply(make_operation(op, kind.accumulator, kind.accumulator), value_, term, term)
                   : min_or_max(op == ir::Op::Max, kind.accumulator, true, value_, term);
      return;
    }
  }
  if (term.also != 0) allow_other_terms(kind, term);
}

// What a sum or product may be because one of its terms may be something else.
void Reduction::allow_other_terms(const ReductionKind& kind, const Value& term) {
  if (kind.op == Aggregation::Assign) return;
  if (kind.op == Aggregation::Sum) {
    value_.also |= term.also & ~kZero;
    if (term.also & kZero) value_.error += std::abs(term.real);  // a left out term
    return;
  }
  value_.also |= term.also;
  if (term.also & kInfinities) value_.also |= kInfinities | kNotANumber;
}

// What results because partial sums and products, in any order, leave the range of the accumulator.
void Reduction::leave_range(const ReductionKind& kind, Value& result) const {
  const Precision type = precision(kind.accumulator);
  if (kind.complex) {
    if (kind.op == Aggregation::Product) result.also |= outcomes_of_orders(partial_products_, type, result);
    if (kind.op == Aggregation::Sum && std::isfinite(magnitude_) && magnitude_ > type.largest)
      result.also |= kInfinities | kNotANumber;
    return;
  }
  if (kind.op == Aggregation::Product) {
    result.also |= partial_products_.outside_range(type, result.real, result.error);
  } else if (left_double_) {
    // What has such a product in it is infinite, or no number. A fused one may be less than what is there already.
    result.also |= kInfinities | kNotANumber;
  } else if (std::isfinite(result.real)) {
    // Terms of one sign may come first.
    if (positive_ > type.largest) result.also |= kPositiveInfinity;
    if (negative_ > type.largest) result.also |= kNegativeInfinity;
  }
  const Outcomes with_result = result.also | (std::isinf(result.real) ? infinity_of_sign(result.real) : 0);
  if ((with_result & kInfinities) == kInfinities) result.also |= kNotANumber;
}

// Roundings of terms that are much alike go one way instead of both: what the sum loses, to one number after the other.
// Other orders have shorter sums, which lose less.
double Reduction::systematic_error(const Value& sum) const {
  const double lost = std::max(std::abs(sum.real - in_turn_), std::abs(sum.imaginary - imaginary_in_turn_));
  return std::isfinite(lost) ? kSumsInTurn * lost : 0;
}

// Four sums side by side, as one alone waits for each of its additions: a product takes 1.9 ns instead of 3.5 (512^3,
// one Zen 4 core).
template <typename T, bool kExact>
void Reduction::add_products_of(const Run& a, const Run& b, int64_t count) {
  constexpr int64_t kSums = 4;
  const auto* const as = reinterpret_cast<const T*>(a.data);
  const auto* const bs = reinterpret_cast<const T*>(b.data);
  double sums[kSums] = {value_.real, -0.0, -0.0, -0.0}, lost[kSums] = {}, errors[kSums] = {};
  double positives[kSums] = {}, negatives[kSums] = {};
  auto in_turn = static_cast<T>(in_turn_);
  const auto add = [&](int64_t which, int64_t k) {
    const int64_t i = a.first + k * a.step, j = b.first + k * b.step;
    const double x = as[i], y = bs[j], term = x * y;
    add_compensated(sums[which], lost[which], term);
    in_turn += static_cast<T>(term);
    positives[which] += std::max(term, 0.0);
    negatives[which] += std::max(-term, 0.0);
    if constexpr (!kExact) {
      const double of_a = a.errors ? a.errors[i] : 0, of_b = b.errors ? b.errors[j] : 0;
      errors[which] += approximate(term, std::abs(x) * of_b + std::abs(y) * of_a + of_a * of_b).error;
    }
  };
  int64_t k = 0;
  for (; k + kSums <= count; k += kSums)
    for (int64_t which = 0; which < kSums; ++which) add(which, k + which);
  for (; k < count; ++k) add(0, k);
  const int64_t used = std::min(count, kSums);
  for (int64_t which = 1; which < used; ++which) add_compensated(sums[0], lost[0], sums[which]);
  value_.real = sums[0];
  in_turn_ = in_turn;
  for (int64_t which = 0; which < used; ++which) {
    compensation_ += lost[which];
    positive_ += positives[which];
    negative_ += negatives[which];
    value_.error += errors[which];
  }
  if (std::isfinite(value_.real)) return;
  for (k = 0; k < count && !left_double_; ++k) {
    const double x = as[a.first + k * a.step], y = bs[b.first + k * b.step];
    left_double_ = std::isfinite(x) && std::isfinite(y) && std::isinf(x * y);
  }
}

void Reduction::add_uncertain_products(const ReductionKind& kind, const Run& a, const Run& b, int64_t count) {
  Operation product = make_operation(ir::Op::Mul, kind.accumulator, kind.accumulator);
  product.ulps = 0;
  const auto element = [&](const Run& run, int64_t at) {
    return Value{tensor::load_real(kind.accumulator, run.data, at), 0, run.errors ? run.errors[at] : 0, 0,
                 run.also ? run.also[at] : Outcomes{0}};
  };
  for (int64_t k = 0; k < count; ++k) {
    const Value x = element(a, a.first + k * a.step), y = element(b, b.first + k * b.step);
    add(kind, apply(product, x, y, y));
  }
}

void Reduction::add_products(const ReductionKind& kind, const Run& a, const Run& b, int64_t count) {
  terms_ += count;
  if (a.also || b.also) {
    terms_ -= count;
    add_uncertain_products(kind, a, b, count);
    return;
  }
  const bool exact = !a.errors && !b.errors, single = kind.accumulator == DType::F32;
  if (exact)
    single ? add_products_of<float, true>(a, b, count) : add_products_of<double, true>(a, b, count);
  else
    single ? add_products_of<float, false>(a, b, count) : add_products_of<double, false>(a, b, count);
}

void Reduction::add_complex(const ReductionKind& kind, const Value& term) {
  switch (kind.op) {
    case Aggregation::Sum:
      add_compensated(value_.real, compensation_, term.real);
      add_compensated(value_.imaginary, imaginary_compensation_, term.imaginary);
      add_rounded(kind.accumulator, in_turn_, term.real);
      add_rounded(kind.accumulator, imaginary_in_turn_, term.imaginary);
      value_.error += term.error;
      value_.also |= term.also;
      magnitude_ += part_magnitude(term);
      break;
    case Aggregation::Product: {
      const Outcomes also = value_.also | term.also;
      value_ = terms_ == 1 && !has_previous_ ? term : complex_product(value_, term);
      value_.also = also;
      partial_products_.add(factor_magnitude(term));
      break;
    }
    default:
      value_ = term;  // complex numbers have no order, so it is an assignment
      break;
  }
}

void Reduction::add_integer(const ReductionKind& kind, const Value& term) {
  const auto a = static_cast<uint64_t>(value_.integer), b = static_cast<uint64_t>(term.integer);
  const double error = value_.error + term.error;
  switch (kind.op) {
    case Aggregation::Assign:
      value_ = term;
      break;
    case Aggregation::Sum:
      value_ = {0, tensor::wrap(kind.accumulator, static_cast<int64_t>(a + b)), error};
      break;
    case Aggregation::Product:
      // A product of integers that come from inexact floats has no useful bound.
      value_ = {0, tensor::wrap(kind.accumulator, static_cast<int64_t>(a * b)), error > 0 ? INFINITY : 0};
      break;
    case Aggregation::Min:
    case Aggregation::Max:
      value_ = min_or_max(kind.op == Aggregation::Max, kind.accumulator, false, value_, term);
      break;
  }
}

Value Reduction::finish(const ReductionKind& kind) const {
  if (terms_ == 0) return convert(kind.accumulator, kind.target, value_);
  if (!kind.real && !kind.complex) return convert(kind.accumulator, kind.target, value_);
  Value result = value_;
  const bool sum = kind.op == Aggregation::Sum;
  // Infinite sums leave NaN in the compensation; anything else has none, and -0 + 0 would be 0.
  if (sum && std::isfinite(compensation_)) result.real += compensation_;
  if (sum && std::isfinite(imaginary_compensation_)) result.imaginary += imaginary_compensation_;
  if (sum || kind.op == Aggregation::Product) {
    const auto count = static_cast<double>(terms_ + (has_previous_ ? 1 : 0));
    const double magnitude = !sum ? part_magnitude(result) : kind.complex ? magnitude_ : positive_ + negative_;
    const Precision type = precision(kind.accumulator);
    const double random = kReductionUlps * std::sqrt(count) * ulp(type, magnitude);
    result.error += sum ? std::max(random, systematic_error(result)) : random;
    // Each term may lose as much below the normal numbers.
    if (sum) result.error += count * (kind.flushes ? type.least_normal() : type.smallest_subnormal);
    leave_range(kind, result);
  }
  if (kind.complex) return rounded_complex(kind.target, result);
  if (!is_float(kind.target)) return convert(kind.accumulator, kind.target, result);
  if (result.error == 0) return rounded_to(kind.target, result.real, 0, result.also);
  const Precision target = precision(kind.target);
  Value rounded = rounded_to(kind.target, result.real,
                             result.error + kOutputUlps * ulp(target, std::min(std::abs(result.real), target.largest)),
                             result.also);
  rounded.beyond |= result.beyond && rounded.real == result.real;  // a cast had rounded it
  return rounded;
}

}  // namespace tile_tune::reference
