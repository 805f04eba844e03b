// Every operator of expr.h: its value, its error bound, and its integer form.
#include "tests/unit/reference/programs.h"

#include <cmath>
#include <limits>

#include "frontend/reference/value.h"

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

double real(Op op, double a, double b = 0, double c = 0) {
  return apply(make_operation(op, DType::F64, DType::F64), {a, 0, 0}, {b, 0, 0}, {c, 0, 0}).real;
}
double error(Op op, Value a, Value b = {}, Value c = {}) {
  return apply(make_operation(op, DType::F32, DType::F32), a, b, c).error;
}
int64_t whole(DType type, Op op, int64_t a, int64_t b = 0, int64_t c = 0) {
  return apply(make_operation(op, type, type), {0, a, 0}, {0, b, 0}, {0, c, 0}).integer;
}
Value truth(DType type, Op op, Value a, Value b) { return apply(make_operation(op, type, DType::Bool), a, b, {}); }

}  // namespace

TEST_CASE("functions of floats") {
  struct Case {
    Op op;
    double a, b, result;
  };
  const double e = std::exp(1.0), pi = std::acos(-1.0);
  const std::vector<Case> cases{
      {Op::Add, 1.5, -4, -2.5},
      {Op::Sub, 1.5, -4, 5.5},
      {Op::Mul, 1.5, -4, -6},
      {Op::Div, 1.5, -4, -0.375},
      {Op::Mod, 7.5, 2, 1.5},
      {Op::Mod, -7.5, 2, 0.5},
      {Op::Mod, 7.5, -2, -0.5},
      {Op::Neg, 3, 0, -3},
      {Op::Min, -1, 2, -1},
      {Op::Max, -1, 2, 2},
      {Op::Abs, -2.5, 0, 2.5},
      {Op::Acos, -1, 0, pi},
      {Op::Acosh, 1, 0, 0},
      {Op::Asin, 1, 0, pi / 2},
      {Op::Asinh, 0, 0, 0},
      {Op::Atan, 1, 0, pi / 4},
      {Op::Atanh, 0, 0, 0},
      {Op::Cbrt, -27, 0, -3},
      {Op::Ceil, -1.5, 0, -1},
      {Op::Cos, pi, 0, -1},
      {Op::Cosh, 0, 0, 1},
      {Op::Erf, 0, 0, 0},
      {Op::Erfc, 0, 0, 1},
      {Op::Exp, 1, 0, e},
      {Op::Exp2, -3, 0, 0.125},
      {Op::Exp10, 3, 0, 1000},
      {Op::Expm1, 1, 0, e - 1},
      {Op::Floor, -1.5, 0, -2},
      {Op::Lgamma, 5, 0, std::log(24.0)},
      {Op::Log, e, 0, 1},
      {Op::Log10, 1000, 0, 3},
      {Op::Log1p, e - 1, 0, 1},
      {Op::Log2, 0.25, 0, -2},
      {Op::Relu, -3, 0, 0},
      {Op::Relu, 3, 0, 3},
      {Op::Round, 2.5, 0, 3},
      {Op::Round, -2.5, 0, -3},
      {Op::Rsqrt, 16, 0, 0.25},
      {Op::Sigmoid, 0, 0, 0.5},
      {Op::Sign, -7, 0, -1},
      {Op::Sign, 0, 0, 0},
      {Op::Sign, 7, 0, 1},
      {Op::Sin, pi / 2, 0, 1},
      {Op::Sinh, 0, 0, 0},
      {Op::Sqrt, 81, 0, 9},
      {Op::Tan, pi / 4, 0, 1},
      {Op::Tanh, 0, 0, 0},
      {Op::Tgamma, 5, 0, 24},
      {Op::Trunc, -1.5, 0, -1},
      {Op::Atan2, 1, -1, 3 * pi / 4},
      {Op::Copysign, 3, -0.0, -3},
      {Op::Fdim, 5, 3, 2},
      {Op::Fdim, 3, 5, 0},
      {Op::Fmax, NAN, 2, 2},
      {Op::Fmin, -1, NAN, -1},
      {Op::Fmod, -7.5, 2, -1.5},
      {Op::Hypot, 3, 4, 5},
      {Op::Pow, 2, 10, 1024},
  };
  for (const auto& [op, a, b, result] : cases) {
    INFO(ir::op_name(op) << " " << a << " " << b);
    CHECK(real(op, a, b) == Approx(result).margin(1e-15));
  }
  CHECK(real(Op::Fma, 2, 3, 4) == 10);
  CHECK(std::isnan(real(Op::Relu, NAN)));
  CHECK(std::isnan(real(Op::Sign, NAN)));
  CHECK(std::isnan(real(Op::Max, NAN, 1)));
  CHECK(std::isnan(real(Op::Max, 1, NAN)));
  CHECK(std::isnan(real(Op::Min, 1, NAN)));
  CHECK(real(Op::Div, -1, 0) == -kInfinity);
}

TEST_CASE("integers floor, wrap and survive every divisor") {
  CHECK(whole(DType::I32, Op::Div, -7, 2) == -4);
  CHECK(whole(DType::I32, Op::Div, 7, -2) == -4);
  CHECK(whole(DType::I32, Op::Div, -7, -2) == 3);
  CHECK(whole(DType::I32, Op::Mod, -7, 2) == 1);
  CHECK(whole(DType::I32, Op::Mod, 7, -2) == -1);
  CHECK(whole(DType::I32, Op::Div, 5, 0) == 0);
  CHECK(whole(DType::I32, Op::Mod, 5, 0) == 0);
  CHECK(whole(DType::I32, Op::Div, INT32_MIN, -1) == INT32_MIN);
  CHECK(whole(DType::I64, Op::Div, INT64_MIN, -1) == INT64_MIN);
  CHECK(whole(DType::I64, Op::Mod, INT64_MIN, -1) == 0);
  CHECK(whole(DType::I8, Op::Mul, 100, 3) == 44);
  CHECK(whole(DType::U8, Op::Sub, 1, 2) == 255);
  CHECK(whole(DType::I16, Op::Abs, -32768) == -32768);
  CHECK(whole(DType::I64, Op::Neg, INT64_MIN) == INT64_MIN);
  CHECK(whole(DType::I64, Op::Add, INT64_MAX, 1) == INT64_MIN);
  CHECK(whole(DType::U64, Op::Div, -2, 2) == INT64_MAX);
  CHECK(whole(DType::U64, Op::Mod, -1, 10) == 5);
  CHECK(whole(DType::U64, Op::Max, -1, 1) == -1);
  CHECK(whole(DType::U64, Op::Min, -1, 1) == 1);
  CHECK(whole(DType::I64, Op::Max, -1, 1) == 1);
  CHECK(whole(DType::I32, Op::Relu, -5) == 0);
  CHECK(whole(DType::I32, Op::Sign, -5) == -1);
  CHECK(whole(DType::U64, Op::Sign, -5) == 1);
  CHECK(whole(DType::I32, Op::Fma, 3, 4, 5) == 17);
  CHECK(truth(DType::U64, Op::Lt, {0, 1, 0}, {0, -1, 0}).integer == 1);
  CHECK(truth(DType::I64, Op::Lt, {0, 1, 0}, {0, -1, 0}).integer == 0);
}

TEST_CASE("logic and comparisons") {
  const Value yes{0, 1, 0}, no{0, 0, 0}, maybe{0, 1, 1};
  CHECK(whole(DType::Bool, Op::And, 1, 0) == 0);
  CHECK(whole(DType::Bool, Op::Or, 1, 0) == 1);
  CHECK(whole(DType::Bool, Op::Not, 0) == 1);
  const auto logic = [](Op op, Value a, Value b) { return truth(DType::Bool, op, a, b).error; };
  CHECK(logic(Op::And, no, maybe) == 0);
  CHECK(logic(Op::And, yes, maybe) == 1);
  CHECK(logic(Op::Or, maybe, yes) == 0);
  CHECK(logic(Op::Or, maybe, no) == 1);
  CHECK(logic(Op::Not, maybe, no) == 1);
  const Value nan{NAN, 0, 0}, one{1, 0, 0};
  CHECK(truth(DType::F32, Op::Eq, nan, nan).integer == 0);
  CHECK(truth(DType::F32, Op::Ne, nan, one).integer == 1);
  CHECK(truth(DType::F32, Op::Ge, one, nan).integer == 0);
  CHECK(truth(DType::F32, Op::IsNan, nan, nan).integer == 1);
  CHECK(truth(DType::F32, Op::Le, one, one).integer == 1);
  CHECK(truth(DType::F32, Op::Gt, {1, 0, 0.1}, {1.05, 0, 0}).error == 1);
  CHECK(truth(DType::F32, Op::Gt, {1, 0, 0.1}, {1.2, 0, 0}).error == 0);
  CHECK(truth(DType::F32, Op::Gt, {1, 0, 0.1}, nan).error == 0);
}

TEST_CASE("errors travel by the derivative, and roundings add") {
  const double eps = 0x1p-23;
  CHECK(error(Op::Mul, {3, 0, 0}, {5, 0, 0}) == 15 * eps);
  CHECK(error(Op::Mul, {3, 0, 0.1}, {5, 0, 0}) == Approx(0.5));
  CHECK(error(Op::Mul, {3, 0, 0.1}, {-5, 0, 0.1}) == Approx(0.5 + 0.3 + 0.01));
  CHECK(error(Op::Sub, {3, 0, 0.1}, {3, 0, 0.2}) == Approx(0.3));
  CHECK(error(Op::Div, {6, 0, 0.1}, {2, 0, 0.1}) == Approx(0.05 + 0.15));
  CHECK(error(Op::Fma, {3, 0, 0.1}, {5, 0, 0}, {1, 0, 0.2}) == Approx(0.7));
  CHECK(error(Op::Exp, {2, 0, 0}) == Approx(4 * eps * std::exp(2.0)));
  CHECK(error(Op::Exp, {2, 0, 1e-3}) == Approx(1e-3 * std::exp(2.0)).epsilon(1e-3));
  CHECK(error(Op::Log, {1e-3, 0, 1e-5}) == Approx(1e-2).epsilon(1e-2));
  CHECK(error(Op::Sqrt, {0, 0, 0.25}) == Approx(0.5));
  CHECK(error(Op::Floor, {2.5, 0, 0.1}) == 0);
  CHECK(error(Op::Floor, {2, 0, 1e-6}) == 1);
  CHECK(error(Op::Neg, {2, 0, 0.5}) == 0.5);
  CHECK(error(Op::Abs, {-2, 0, 0.5}) == 0.5);
  CHECK(error(Op::Max, {2, 0, 0.5}, {-2, 0, 0.75}) == 0.5);  // the second cannot win
  CHECK(error(Op::Max, {2, 0, 0.5}, {1.75, 0, 1}) == 0.75);  // it can, by 0.75
  CHECK(error(Op::Exp, {1000, 0, 1}) == 0);                  // infinite: only the kind counts
  CHECK(error(Op::Mul, {1e-30, 0, 0}, {1e-30, 0, 0}) == 0x1p-149);
}

TEST_CASE("lgamma has an absolute allowance where it has zeros") {
  const auto lgamma = [](double x) { return apply(make_operation(Op::Lgamma, DType::F64, DType::F64), {x}, {}, {}); };
  CHECK(lgamma(-2.457).error >= 1e-10);
  CHECK(lgamma(-2.457).error < 2e-10);
  CHECK(lgamma(2.5).error < 1e-15);
}

TEST_CASE("select takes a branch, or either when the condition is open") {
  const auto choose = [](Value condition, Value yes, Value no) {
    return apply(make_operation(Op::Select, DType::F32, DType::F32), condition, yes, no);
  };
  CHECK(choose({0, 1, 0}, {5, 0, 0.5}, {9, 0, 7}).error == 0.5);
  CHECK(choose({0, 0, 0}, {5, 0, 0.5}, {9, 0, 7}).real == 9);
  CHECK(choose({0, 1, 1}, {5, 0, 0.5}, {9, 0, 0.25}).error == 4.25);
  CHECK(choose({0, 1, 1}, {5, 0, 0}, {5, 0, 0}).error == 0);
  CHECK(choose({0, 1, 1}, {5, 0, 0}, {NAN, 0, 0}).also == kNotANumber);
  CHECK(choose({0, 1, 0}, {5, 0, 0}, {NAN, 0, 0}).also == 0);
  CHECK(choose({0, 1, 1}, {NAN, 0, 0}, {5, 0, 0}).also == kAnything);
  CHECK(choose({0, 1, 1}, {0, 0, 0}, {-0.0, 0, 0}).also == kZero);
}

TEST_CASE("casts truncate, saturate, and take NaN for 0") {
  const auto to_integer = [](DType to, double value) { return convert(DType::F64, to, {value, 0, 0}).integer; };
  CHECK(to_integer(DType::I32, -2.9) == -2);
  CHECK(to_integer(DType::I8, 300.5) == 127);
  CHECK(to_integer(DType::I8, -128.9) == -128);
  CHECK(to_integer(DType::I8, -1e30) == -128);
  CHECK(to_integer(DType::U8, -1.9) == 0);
  CHECK(to_integer(DType::U8, 255.9) == 255);
  CHECK(to_integer(DType::U8, kInfinity) == 255);
  CHECK(to_integer(DType::U32, 4294967295.5) == 4294967295);
  CHECK(to_integer(DType::U32, 0x1p32) == 4294967295);
  CHECK(to_integer(DType::I32, 0x1p31) == INT32_MAX);
  CHECK(to_integer(DType::I64, 1e30) == INT64_MAX);
  CHECK(to_integer(DType::I64, -1e30) == INT64_MIN);
  CHECK(to_integer(DType::I64, NAN) == 0);
  CHECK(to_integer(DType::U64, 0x1p63) == INT64_MIN);
  CHECK(to_integer(DType::U64, 0x1p64) == -1);
  CHECK(to_integer(DType::U64, -1e30) == 0);
  CHECK(to_integer(DType::Bool, NAN) == 1);
  CHECK(to_integer(DType::Bool, 0.25) == 1);
  CHECK(convert(DType::F64, DType::F32, {1 + 0x1p-30, 0, 0}).real == 1);
  CHECK(convert(DType::F32, DType::F16, {1e6, 0, 0}).real == kInfinity);
  CHECK(convert(DType::BF16, DType::F16, {1e6, 0, 0}).real == kInfinity);
  // Exactly between two f32 numbers after rounding to double, above the middle before.
  CHECK(convert(DType::I64, DType::F32, {0, (int64_t{1} << 60) + (int64_t{1} << 36) + 1, 0}).real == 0x1p60 + 0x1p37);
  CHECK(convert(DType::U64, DType::F64, {0, -1, 0}).real == 0x1p64);
  CHECK(convert(DType::I32, DType::U8, {0, -1, 0}).integer == 255);
  CHECK(convert(DType::I32, DType::I8, {0, 300, 0}).integer == 44);
  // By way of f32, where this is a tie that goes to the even neighbour.
  CHECK(convert(DType::I32, DType::BF16, {0, (1 << 30) + (1 << 22) + 1, 0}).real == 0x1p30);
  CHECK(convert(DType::F64, DType::BF16, {1 + 0x1p-8 + 0x1p-40, 0, 0}).real == 1 + 0x1p-7);
  Value z{1.5, 0, 0};
  z.imaginary = 7;
  CHECK(convert(DType::C32, DType::F64, z).real == 1.5);
  CHECK(convert(DType::C64, DType::I8, z).integer == 1);
  z.real = 0;
  CHECK(convert(DType::C32, DType::Bool, z).integer == 1);
  CHECK(convert(DType::F32, DType::U8, {1e39, 0, 0, 0, kPositiveInfinity}).error == 0);
  CHECK(convert(DType::F32, DType::U8, {7, 0, 0, 0, kNotANumber}).error == 7);
  CHECK(convert(DType::I32, DType::Bool, {0, 256, 0}).integer == 1);
  CHECK(convert(DType::F32, DType::I32, {2, 0, 1e-6}).error == 1);
  CHECK(convert(DType::F32, DType::I32, {2.5, 0, 1e-6}).error == 0);
}

TEST_CASE("what leaves the range of its type may be an infinity or zero, and what is computed from it then") {
  const auto f32 = [](Op op, Value a, Value b = {}) {
    return apply(make_operation(op, DType::F32, DType::F32), a, b, b);
  };
  const Value square = f32(Op::Mul, {3e19}, {3e19});
  CHECK(square.real == Approx(9e38));
  CHECK(square.also == kPositiveInfinity);
  const Value root = f32(Op::Sqrt, f32(Op::Add, square, {1}));
  CHECK(root.real == Approx(3e19));
  CHECK(admits(root.also, kInfinity));
  CHECK_FALSE(admits(root.also, 2e19));
  CHECK(root.error < 1e14);

  const Value sigmoid = f32(Op::Div, {1}, f32(Op::Add, {1}, f32(Op::Exp, {95})));
  CHECK(sigmoid.real == Approx(5.52e-42).epsilon(0.01));
  CHECK(admits(sigmoid.also, 0));
  CHECK_FALSE(admits(sigmoid.also, 1));
  CHECK_FALSE(admits(sigmoid.also, NAN));

  CHECK(f32(Op::Sub, square, square).also == (kInfinities | kNotANumber));
  CHECK(f32(Op::Mul, {-3e19}, {3e19}).also == kNegativeInfinity);
  CHECK(f32(Op::Div, {1}, f32(Op::Mul, {1e-30}, {-1e-30})).also == kInfinities);
  CHECK(f32(Op::Mul, {3e18}, {3e18}).also == 0);
  CHECK(apply(make_operation(Op::Mul, DType::F64, DType::F64), {3e19}, {3e19}, {}).also == 0);
  const auto fma = [](Value a, Value b) {
    return apply(make_operation(Op::Fma, DType::F32, DType::F32), a, b, {1}).also;
  };
  const Value may_be_zero{0.1, 0, 0.2};
  CHECK(fma({kInfinity}, may_be_zero) == kAnything);
  CHECK(fma(may_be_zero, {-kInfinity}) == kAnything);
  CHECK(fma({kInfinity}, {0.3, 0, 0.2}) == 0);
  // Exact infinities, and zeros that are, have nothing beside them.
  CHECK(f32(Op::Mul, {kInfinity}, {2}).also == 0);
  CHECK(f32(Op::Div, {1}, {0}).also == 0);
  CHECK(truth(DType::F32, Op::Gt, square, {1e39}).error == 1);
  CHECK(truth(DType::F32, Op::Gt, square, {1e38}).error == 0);
  // Both zeros: which one is open, and with it what a quotient by it is.
  const Value zero = f32(Op::Max, {0.0}, {-0.0});
  CHECK(zero.also == kZero);
  CHECK((f32(Op::Div, {1}, zero).also & kInfinities) == kInfinities);
  // A divisor that may be 0.
  CHECK(f32(Op::Div, {1}, {1e-9, 0, 1e-8}).also == kAnything);
  CHECK(f32(Op::Log, {1e-9, 0, 1e-8}).also == kAnything);
}
