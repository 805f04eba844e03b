#include "frontend/reference/reduction.h"

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

}  // namespace

Reduction::Reduction(const ReductionKind& kind)
    : value_(convert(kind.target, kind.accumulator, identity(kind.op, kind.target))) {}

Reduction::Reduction(const ReductionKind& kind, const Value& previous)
    : value_(convert(kind.target, kind.accumulator, previous)), has_previous_(true) {
  magnitude_ = std::abs(value_.real);
}

void Reduction::add_real(const ReductionKind& kind, const Value& term) {
  switch (kind.op) {
    case Aggregation::Assign:
      value_ = term;
      break;
    case Aggregation::Sum: {
      const double sum = value_.real + term.real;
      compensation_ += std::abs(value_.real) >= std::abs(term.real) ? (value_.real - sum) + term.real
                                                                    : (term.real - sum) + value_.real;
      value_.real = sum;
      value_.error += term.error;
      magnitude_ += std::abs(term.real);
      break;
    }
    case Aggregation::Product:
      value_.error =
          std::abs(value_.real) * term.error + std::abs(term.real) * value_.error + value_.error * term.error;
      value_.real *= term.real;
      break;
    case Aggregation::Min:
    case Aggregation::Max:
      value_ = min_or_max(kind.op == Aggregation::Max, kind.accumulator, true, value_, term);
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
  if (!kind.real) return convert(kind.accumulator, kind.target, value_);
  Value result = value_;
  // Infinite sums leave NaN in the compensation.
  if (std::isfinite(compensation_)) result.real += compensation_;
  const bool sum = kind.op == Aggregation::Sum;
  if (sum || kind.op == Aggregation::Product) {
    const auto count = static_cast<double>(terms_ + (has_previous_ ? 1 : 0));
    const double magnitude = sum ? magnitude_ : std::abs(result.real);
    result.error += kReductionUlps * std::sqrt(count) * ulp(precision(kind.accumulator), magnitude);
  }
  if (!is_float(kind.target)) return convert(kind.accumulator, kind.target, result);
  const double rounded = tensor::round_to(kind.target, result.real);
  if (result.error == 0) return {rounded, 0, 0};
  return approximate(rounded, result.error + kOutputUlps * ulp(precision(kind.target), std::abs(rounded)));
}

}  // namespace tile_tune::reference
