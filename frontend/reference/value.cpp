#include "frontend/reference/value.h"

#include "frontend/reference/complex.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

using ir::Op;

// Calls `visit` with what f gives when its operands move by their errors.
template <typename Function, typename Visit>
void for_each_end(const Function& f, const Value& a, const Value& b, const Visit& visit) {
  if (a.error == 0 && b.error == 0) return;
  for (const double da : {-a.error, a.error})
    for (const double db : {-b.error, b.error}) {
      if ((std::signbit(da) && a.error == 0) || (std::signbit(db) && b.error == 0)) continue;  // the same again
      visit(f(da, db));
    }
}

// Largest change of f when its operands move by their errors: exact for monotone functions, first order for others.
template <typename Function>
double carried(const Function& f, double result, const Value& a, const Value& b) {
  double worst = 0;
  for_each_end(f, a, b, [&](double end) {
    const double change = std::abs(end - result);
    if (std::isfinite(change)) worst = std::max(worst, change);
  });
  return worst;
}

bool is_same_kind(double a, double b) {
  return std::isfinite(a) ? std::isfinite(b) : a == b || (std::isnan(a) && std::isnan(b));
}

// Of a function: kAnything where its operands may be on either side of a border of its domain or its range (log at 0).
template <typename Function>
Outcomes at_borders(const Function& f, double result, const Value& a, const Value& b) {
  Outcomes also = 0;
  for_each_end(f, a, b, [&](double end) {
    if (!is_same_kind(end, result)) also = kAnything;
  });
  return also;
}

// Makes `result` allow `other` too, which is off by `error`.
void admit(Value& result, const Precision& type, double other, double error) {
  if (std::isnan(other)) {
    result.also |= kNotANumber;
  } else if (std::isinf(other)) {
    result.also |= infinity_of_sign(other);
  } else if (other == 0 && error == 0) {
    result.also |= kZero;
  } else if (!std::isfinite(result.real)) {
    result.also |= kAnything;
  } else {
    result.also |= outside_range(type, other, error);
    result.error = std::max(result.error, std::abs(other - result.real) + error);
  }
}

double floor_mod(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

double unary_function(Op op, double x) {
  switch (op) {
    case Op::Abs:
      return std::abs(x);
    case Op::Acos:
      return std::acos(x);
    case Op::Acosh:
      return std::acosh(x);
    case Op::Asin:
      return std::asin(x);
    case Op::Asinh:
      return std::asinh(x);
    case Op::Atan:
      return std::atan(x);
    case Op::Atanh:
      return std::atanh(x);
    case Op::Cbrt:
      return std::cbrt(x);
    case Op::Ceil:
      return std::ceil(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Cosh:
      return std::cosh(x);
    case Op::Erf:
      return std::erf(x);
    case Op::Erfc:
      return std::erfc(x);
    case Op::Exp:
      return std::exp(x);
    case Op::Exp2:
      return std::exp2(x);
    case Op::Exp10:
      return std::pow(10.0, x);
    case Op::Expm1:
      return std::expm1(x);
    case Op::Floor:
      return std::floor(x);
    case Op::Lgamma:
      return std::lgamma(x);
    case Op::Log:
      return std::log(x);
    case Op::Log10:
      return std::log10(x);
    case Op::Log1p:
      return std::log1p(x);
    case Op::Log2:
      return std::log2(x);
    case Op::Relu:
      return x < 0 ? 0 : x;
    case Op::Round:
      return std::round(x);
    case Op::Rsqrt:
      return 1 / std::sqrt(x);
    case Op::Sigmoid:
      // Of large negative numbers, whose exp(-x) double does not have, as well.
      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    case Op::Sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Op::Sin:
      return std::sin(x);
    case Op::Sinh:
      return std::sinh(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Tgamma:
      return std::tgamma(x);
    default:
      return std::trunc(x);
  }
}

double function(Op op, double a, double b) {
  switch (op) {
    case Op::Mod:
      return floor_mod(a, b);
    case Op::Atan2:
      return std::atan2(a, b);
    case Op::Copysign:
      return std::copysign(a, b);
    case Op::Fdim:
      return std::fdim(a, b);
    case Op::Fmax:
      return std::fmax(a, b);
    case Op::Fmin:
      return std::fmin(a, b);
    case Op::Fmod:
      return std::fmod(a, b);
    case Op::Hypot:
      return std::hypot(a, b);
    case Op::Pow:
      return std::pow(a, b);
    default:
      return unary_function(op, a);
  }
}

double ulps_of(Op op) {
  switch (op) {
    case Op::Neg:
    case Op::Conj:
    case Op::Min:
    case Op::Max:
    case Op::Select:
    case Op::Abs:
    case Op::Ceil:
    case Op::Floor:
    case Op::Relu:
    case Op::Round:
    case Op::Sign:
    case Op::Trunc:
    case Op::Copysign:
    case Op::Fmax:
    case Op::Fmin:
    case Op::Fmod:
      return 0;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
    case Op::Fdim:
    case Op::Fma:
      return kArithmeticUlps;
    default:
      return kTranscendentalUlps;
  }
}

template <typename T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    case Op::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

// True where errors leave open how a and b compare. A NaN compares the same whatever the other operand is.
bool is_uncertain(double difference, double error) { return error > 0 && std::abs(difference) <= error; }

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

double as_real(DType type, int64_t integer) {
  return type == DType::U64 ? static_cast<double>(bits(integer)) : static_cast<double>(integer);
}

Value logic(Op op, const Value& a, const Value& b) {
  if (op == Op::Not) return {0, a.integer == 0, a.error};
  // The value that settles the result whatever the other operand is.
  const int64_t settles = op == Op::Or;
  const bool settled = (a.integer == settles && a.error == 0) || (b.integer == settles && b.error == 0);
  return {0, op == Op::And ? a.integer & b.integer : a.integer | b.integer, settled ? 0 : std::max(a.error, b.error)};
}

Value select(const Operation& operation, const Value& condition, const Value& yes, const Value& no) {
  Value result = condition.integer ? yes : no;
  if (condition.error == 0) return result;
  const Value& other = condition.integer ? no : yes;
  result.also |= other.also;
  if (operation.real) {
    if (!is_same_kind(result.real, other.real))
      admit(result, operation.precision, other.real, other.error);
    else if (std::isfinite(result.real))
      result.error = std::max(result.error, std::abs(result.real - other.real) + other.error);
    if (result.real == 0 && other.real == 0) result.also |= kZero;
  } else if (operation.complex) {
    const double distance =
        std::max(std::abs(result.real - other.real), std::abs(result.imaginary - other.imaginary)) + other.error;
    result.error = std::max(result.error, distance);
    // A part is an infinity or NaN in one of them.
    if (!std::isfinite(distance)) result.also |= kAnything;
  } else {
    const double distance =
        std::abs(as_real(operation.operands, result.integer) - as_real(operation.operands, other.integer));
    result.error = std::max(result.error, distance + other.error);
  }
  return result;
}

// The operation on floats alone; comparisons give 0 or 1.
double plain(Op op, double x, double y, double z) {
  switch (op) {
    case Op::Mul:
      return x * y;
    case Op::Add:
      return x + y;
    case Op::Sub:
      return x - y;
    case Op::Div:
      return x / y;
    case Op::Fma:
      return std::fma(x, y, z);
    case Op::Neg:
      return -x;
    case Op::Min:
    case Op::Max:
      return min_or_max(op == Op::Max, DType::F64, true, {x}, {y}).real;
    case Op::IsNan:
      return std::isnan(x);
    default:
      return is_comparison(op) ? compare(op, x, y) : function(op, x, y);
  }
}

bool may_be_zero(const Value& x) { return x.error > 0 && std::abs(x.real) <= x.error; }

// To first order, of operands that are what they are.
Value first_order(const Operation& operation, const Value& a, const Value& b, const Value& c) {
  const auto rounded = [&](double result, double error) {
    if (operation.ulps > 0) error += operation.ulps * ulp(operation.precision, std::abs(result));
    return approximate(result, error);
  };
  const double x = a.real, y = b.real;
  switch (operation.op) {
    case Op::Mul: {
      Value result = rounded(x * y, std::abs(x) * b.error + std::abs(y) * a.error + a.error * b.error);
      // An infinity times what may be 0.
      if (std::isinf(result.real) && (may_be_zero(a) || may_be_zero(b))) result.also = kAnything;
      return result;
    }
    case Op::Add:
      return rounded(x + y, a.error + b.error);
    case Op::Sub:
      return rounded(x - y, a.error + b.error);
    case Op::Div: {
      const double quotient = x / y;
      const double error = a.error + std::abs(quotient) * b.error;
      Value result = rounded(quotient, error == 0 ? 0 : error / std::abs(y));
      if (may_be_zero(b)) {
        const double least = (std::abs(x) - a.error) / (std::abs(y) + b.error);
        result.also = least > operation.precision.largest ? kInfinities : kAnything;
      }
      return result;
    }
    case Op::Fma: {
      Value result =
          rounded(std::fma(x, y, c.real), std::abs(x) * b.error + std::abs(y) * a.error + a.error * b.error + c.error);
      if ((std::isinf(x) && may_be_zero(b)) || (std::isinf(y) && may_be_zero(a))) result.also = kAnything;
      return result;
    }
    case Op::Neg:
      return {-x, 0, a.error};
    case Op::Min:
      return min_or_max(false, operation.operands, true, {x, 0, a.error}, {y, 0, b.error});
    case Op::Max:
      return min_or_max(true, operation.operands, true, {x, 0, a.error}, {y, 0, b.error});
    case Op::IsNan:
      return {0, std::isnan(x), 0};
    default:
      break;
  }
  if (is_comparison(operation.op))
    return {0, compare(operation.op, x, y), is_uncertain(x - y, a.error + b.error) ? 1.0 : 0.0};
  const double result = function(operation.op, x, y);
  const auto f = [&](double dx, double dy) { return function(operation.op, x + dx, y + dy); };
  double error = carried(f, result, a, b);
  // a - b * floor(a / b) rounds at the size of a, however small the remainder.
  if (operation.op == Op::Mod) error += operation.ulps * ulp(operation.precision, std::abs(x));
  if (operation.op == Op::Lgamma && x < 0) error += kLgammaAbsolute;
  if ((operation.op == Op::Sin || operation.op == Op::Cos || operation.op == Op::Tan) &&
      std::abs(x) > kLongReductionFrom)
    error += kLongReductionError * (operation.op == Op::Tan ? 1 + result * result : 1);
  Value value = rounded(result, error);
  value.also = at_borders(f, result, a, b);
  // Zeros are equal to them, whatever their signs.
  if ((operation.op == Op::Relu || operation.op == Op::Fmin || operation.op == Op::Fmax) && result == 0)
    value.also |= kZero;
  // The quotient in between has its own range.
  if (operation.op == Op::Mod && !(std::abs(x / y) <= operation.precision.largest && std::isfinite(y)))
    value.also |= kAnything;
  return value;
}

// Applies the operation to what its operands may be instead.
void admit_outcomes(const Operation& operation, const Value& a, const Value& b, const Value& c, Value& result) {
  const bool gives_bool = is_comparison(operation.op) || operation.op == Op::IsNan;
  if ((a.also | b.also | c.also) & kAnything) {
    gives_bool ? result.error = 1 : result.also = kAnything;
    return;
  }
  const double error = result.error;
  const size_t arity = ir::op_arity(operation.op);  // beyond it operands are repeated
  bool is_first = true;                             // of all: the values themselves
  for_each_outcome(a.real, a.also, [&](double x) {
    for_each_outcome(b.real, arity > 1 ? b.also : 0, [&](double y) {
      for_each_outcome(c.real, arity > 2 ? c.also : 0, [&](double z) {
        const double other = plain(operation.op, x, y, z);
        if (gives_bool && (other != 0) != (result.integer != 0)) result.error = 1;
        if (!gives_bool && !is_first) admit(result, operation.precision, other, other == 0 ? 0 : error);
        is_first = false;
      });
    });
  });
}

Value apply_real(const Operation& operation, const Value& a, const Value& b, const Value& c) {
  Value result = first_order(operation, a, b, c);
  if (a.also | b.also | c.also) admit_outcomes(operation, a, b, c, result);
  if (operation.precision.largest > 0 && (operation.ulps > 0 || result.error > 0))
    result.also |= outside_range(operation.precision, result.real, result.error);
  // 0 by a number whose sign its error leaves open.
  const auto has_either_sign = [](const Value& factor) { return is_uncertain(factor.real, factor.error); };
  if (operation.op == Op::Mul && result.real == 0 && (has_either_sign(a) || has_either_sign(b)))
    result.also |= kOtherZero;
  return result;
}

// Integer arithmetic in 64 bits without undefined overflow; the caller wraps to the type.
int64_t integer_function(Op op, DType type, int64_t a, int64_t b) {
  const bool is_unsigned = type == DType::U64;
  switch (op) {
    case Op::Add:
      return static_cast<int64_t>(bits(a) + bits(b));
    case Op::Sub:
      return static_cast<int64_t>(bits(a) - bits(b));
    case Op::Mul:
      return static_cast<int64_t>(bits(a) * bits(b));
    case Op::Neg:
      return static_cast<int64_t>(-bits(a));
    case Op::Div:
      if (b == 0) return 0;
      if (is_unsigned) return static_cast<int64_t>(bits(a) / bits(b));
      if (b == -1) return static_cast<int64_t>(-bits(a));
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    case Op::Mod:
      if (b == 0 || (b == -1 && !is_unsigned)) return 0;
      if (is_unsigned) return static_cast<int64_t>(bits(a) % bits(b));
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    case Op::Abs:
      return is_unsigned || a >= 0 ? a : static_cast<int64_t>(-bits(a));
    case Op::Relu:
      return is_unsigned || a >= 0 ? a : 0;
    case Op::Sign:
      return is_unsigned ? a != 0 : (a > 0) - (a < 0);
    case Op::Ceil:
    case Op::Floor:
    case Op::Round:
    case Op::Trunc:
      return a;
    case Op::Fmin:
      return (is_unsigned ? bits(b) < bits(a) : b < a) ? b : a;
    case Op::Fmax:
      return (is_unsigned ? bits(a) < bits(b) : a < b) ? b : a;
    default:
      return tensor::to_integer(type, function(op, as_real(type, a), as_real(type, b)));
  }
}

Value apply_integer(const Operation& operation, const Value& a, const Value& b, const Value& c) {
  const DType type = operation.operands;
  const double error = a.error + b.error;
  switch (operation.op) {
    case Op::And:
    case Op::Or:
    case Op::Not:
      return logic(operation.op, a, b);
    case Op::Min:
    case Op::Max:
      return min_or_max(operation.op == Op::Max, type, false, a, b);
    case Op::IsNan:
      return {};
    case Op::Fma: {
      const int64_t product = integer_function(Op::Mul, type, a.integer, b.integer);
      return {0, tensor::wrap(type, integer_function(Op::Add, type, product, c.integer)),
              error + c.error > 0 ? INFINITY : 0};
    }
    default:
      break;
  }
  if (is_comparison(operation.op)) {
    const bool result = type == DType::U64 ? compare(operation.op, bits(a.integer), bits(b.integer))
                                           : compare(operation.op, a.integer, b.integer);
    return {0, result, is_uncertain(as_real(type, a.integer) - as_real(type, b.integer), error) ? 1.0 : 0.0};
  }
  const auto f = [&](int64_t x, int64_t y) { return tensor::wrap(type, integer_function(operation.op, type, x, y)); };
  Value result{0, f(a.integer, b.integer), 0};
  if (error > 0)
    result.error = carried(
        [&](double dx, double dy) {
          const auto moved = [](int64_t x, double by) {
            return static_cast<int64_t>(bits(x) + bits(tensor::to_integer(DType::I64, by)));
          };
          return as_real(type, f(moved(a.integer, dx), moved(b.integer, dy)));
        },
        as_real(type, result.integer), a, b);
  return result;
}

}  // namespace

Operation make_operation(Op op, DType operands, DType result) {
  return {op,
          operands,
          is_float(operands),
          is_complex(operands),
          precision(result),
          is_float(result) || is_complex(result) ? ulps_of(op) : 0};
}

Value apply(const Operation& operation, const Value& a, const Value& b, const Value& c) {
  if (operation.op == Op::Select) return select(operation, a, b, c);
  if (operation.complex) return apply_complex(operation, a, b);
  return operation.real ? apply_real(operation, a, b, c) : apply_integer(operation, a, b, c);
}

Value min_or_max(bool maximum, DType type, bool real, const Value& a, const Value& b) {
  if (!real) {
    const bool second = type == DType::U64 ? bits(a.integer) < bits(b.integer) : a.integer < b.integer;
    return {0, second == maximum ? b.integer : a.integer, std::max(a.error, b.error)};
  }
  if (std::isnan(a.real)) return a;
  if (std::isnan(b.real)) return b;
  const auto pick = [&](double x, double y) { return maximum ? std::max(x, y) : std::min(x, y); };
  const double result = pick(a.real, b.real);
  const Outcomes zero = result == 0 && a.real == b.real && std::signbit(a.real) != std::signbit(b.real) ? kZero : 0;
  if (a.error == 0 && b.error == 0) return {result, 0, 0, 0, zero};
  const double high = pick(a.real + a.error, b.real + b.error), low = pick(a.real - a.error, b.real - b.error);
  return approximate(result, std::max(high - result, result - low), zero);
}

Value rounded_to(DType type, double real, double error, Outcomes also) {
  const double rounded = tensor::round_to(type, real), largest = precision(type).largest;
  if (error == 0) return {rounded, 0, 0, 0, also};
  also |= outside_range(precision(type), real, error);
  // An infinity that may be the largest number as well.
  if (std::isinf(rounded) && std::isfinite(real) && std::abs(real) - error <= largest) {
    Value value = approximate(std::copysign(largest, real), error + std::abs(real) - largest, also);
    value.beyond = true;
    return value;
  }
  return approximate(rounded, error, also);
}

namespace {

Value to_integer(DType to, const Value& value) {
  const auto converted = [to](double real) { return tensor::to_integer(to, real); };
  Value result{0, converted(value.real), 0};
  const auto allow = [&](double real) {
    result.error = std::max(result.error, std::abs(as_real(to, converted(real)) - as_real(to, result.integer)));
  };
  if (value.also & kAnything) result.error = to == DType::Bool ? 1 : INFINITY;
  for_each_outcome(value.real, value.also, allow);
  if (value.error > 0) {
    allow(value.real - value.error);
    allow(value.real + value.error);
    if (to == DType::Bool && is_uncertain(value.real, value.error)) result.error = 1;
  }
  return result;
}

Value between_floats(DType from, DType to, const Value& value) {
  if (to == DType::F64 || (to == DType::F32 && from != DType::F64)) return value;  // holds all of them
  const double result = tensor::round_to(to, value.real);
  const auto f = [&](double change, double) { return tensor::round_to(to, value.real + change); };
  if (value.error == 0) return {result, 0, 0, 0, value.also};
  Value rounded = rounded_to(to, value.real, value.error, value.also);
  if (rounded.real == result) rounded = approximate(result, carried(f, result, value, {}), rounded.also);
  return rounded;
}

// Halves are made of f32. 64-bit integers round to that at once, not through double.
Value to_float(DType from, DType to, const Value& value) {
  if (to == DType::F64) return approximate(as_real(from, value.integer), value.error);
  const auto single = from == DType::U64 ? static_cast<float>(bits(value.integer)) : static_cast<float>(value.integer);
  return approximate(tensor::round_to(to, single), value.error);
}

}  // namespace

Value convert(DType from, DType to, const Value& value) {
  if (from == to) return value;
  if (is_complex(to)) return convert_to_complex(from, to, value);
  if (is_complex(from)) {
    Value part{value.real, 0, value.error, 0, value.also};
    if (to != DType::Bool) return convert(component_type(from), to, part);
    const Value real = to_integer(to, part);
    part.real = value.imaginary;
    return logic(Op::Or, real, to_integer(to, part));
  }
  if (is_float(from)) return is_float(to) ? between_floats(from, to, value) : to_integer(to, value);
  if (is_float(to)) return to_float(from, to, value);
  const double error = to == DType::Bool ? std::min(value.error, 1.0) : value.error;
  return {0, tensor::wrap(to, value.integer), error};
}

}  // namespace tile_tune::reference
