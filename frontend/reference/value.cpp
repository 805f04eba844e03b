#include "frontend/reference/value.h"

#include "frontend/reference/complex.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

using ir::Op;

// Largest change of f when its operands move by their errors: exact for monotone functions, first order for others.
// Where f leaves its domain or its range (log below 0), that side says nothing.
template <typename Function>
double carried(const Function& f, double result, const Value& a, const Value& b) {
  if (a.error == 0 && b.error == 0) return 0;
  double worst = 0;
  for (const double da : {-a.error, a.error})
    for (const double db : {-b.error, b.error}) {
      if ((std::signbit(da) && a.error == 0) || (std::signbit(db) && b.error == 0)) continue;  // the same again
      const double change = std::abs(f(da, db) - result);
      if (std::isfinite(change)) worst = std::max(worst, change);
    }
  return worst;
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
      return 1 / (1 + std::exp(-x));
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

int64_t to_integer(DType type, double real) {
  if (std::isnan(real)) return 0;
  if (type == DType::U64 && real >= 0x1p63)
    return static_cast<int64_t>(real >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(real));
  if (real >= 0x1p63) return INT64_MAX;
  if (real < -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(real);
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
  if (condition.error > 0) {
    const Value& other = condition.integer ? no : yes;
    const double distance =
        operation.real || operation.complex
            ? std::max(std::abs(result.real - other.real), std::abs(result.imaginary - other.imaginary))
            : std::abs(as_real(operation.operands, result.integer) - as_real(operation.operands, other.integer));
    // Two infinities of one sign differ by NaN and are equal; otherwise nothing can be said.
    const bool equal =
        (operation.real || operation.complex) && result.real == other.real && result.imaginary == other.imaginary;
    result.error = std::max(result.error, equal                  ? other.error
                                          : std::isnan(distance) ? INFINITY
                                                                 : distance + other.error);
  }
  return result;
}

Value apply_real(const Operation& operation, const Value& a, const Value& b, const Value& c) {
  const auto rounded = [&](double result, double error) {
    if (operation.ulps > 0) error += operation.ulps * ulp(operation.precision, std::abs(result));
    return approximate(result, error);
  };
  const double x = a.real, y = b.real;
  switch (operation.op) {
    case Op::Mul:
      return rounded(x * y, std::abs(x) * b.error + std::abs(y) * a.error + a.error * b.error);
    case Op::Add:
      return rounded(x + y, a.error + b.error);
    case Op::Sub:
      return rounded(x - y, a.error + b.error);
    case Op::Div: {
      const double quotient = x / y;
      const double error = a.error + std::abs(quotient) * b.error;
      return rounded(quotient, error == 0 ? 0 : error / std::abs(y));
    }
    case Op::Fma:
      return rounded(std::fma(x, y, c.real),
                     std::abs(x) * b.error + std::abs(y) * a.error + a.error * b.error + c.error);
    case Op::Neg:
      return {-x, 0, a.error};
    case Op::Min:
      return min_or_max(false, operation.operands, true, a, b);
    case Op::Max:
      return min_or_max(true, operation.operands, true, a, b);
    case Op::IsNan:
      return {0, std::isnan(x), 0};
    default:
      break;
  }
  if (is_comparison(operation.op))
    return {0, compare(operation.op, x, y), is_uncertain(x - y, a.error + b.error) ? 1.0 : 0.0};
  const double result = function(operation.op, x, y);
  double error = carried([&](double dx, double dy) { return function(operation.op, x + dx, y + dy); }, result, a, b);
  // a - b * floor(a / b) rounds at the size of a, however small the remainder.
  if (operation.op == Op::Mod) error += operation.ulps * ulp(operation.precision, std::abs(x));
  return rounded(result, error);
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
      return to_integer(type, function(op, as_real(type, a), as_real(type, b)));
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
          return as_real(type, f(a.integer + to_integer(type, dx), b.integer + to_integer(type, dy)));
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
  if (a.error == 0 && b.error == 0) return {result, 0, 0};
  const double high = pick(a.real + a.error, b.real + b.error), low = pick(a.real - a.error, b.real - b.error);
  return approximate(result, std::max(high - result, result - low));
}

Value convert(DType from, DType to, const Value& value) {
  if (from == to) return value;
  if (is_complex(to)) return convert_to_complex(from, to, value);
  if (is_float(from) && is_float(to)) {
    if (to == DType::F64 || (to == DType::F32 && from != DType::F64)) return value;  // holds all of them
    const double result = tensor::round_to(to, value.real);
    const auto f = [&](double change, double) { return tensor::round_to(to, value.real + change); };
    return approximate(result, carried(f, result, value, {}));
  }
  if (is_float(from) && to == DType::Bool)
    return {0, value.real != 0, is_uncertain(value.real, value.error) ? 1.0 : 0.0};
  if (is_float(from)) {
    const auto f = [&](double change, double) {
      return as_real(to, tensor::wrap(to, to_integer(to, value.real + change)));
    };
    const int64_t result = tensor::wrap(to, to_integer(to, value.real));
    return {0, result, carried(f, as_real(to, result), value, {})};
  }
  if (is_float(to)) {
    // 64-bit integers round to f32 at once, not through double.
    const double result = to != DType::F32     ? tensor::round_to(to, as_real(from, value.integer))
                          : from == DType::U64 ? static_cast<float>(bits(value.integer))
                                               : static_cast<float>(value.integer);
    return approximate(result, value.error);
  }
  const double error = to == DType::Bool ? std::min(value.error, 1.0) : value.error;
  return {0, tensor::wrap(to, value.integer), error};
}

}  // namespace tile_tune::reference
