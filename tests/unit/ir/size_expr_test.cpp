#include <catch2/catch.hpp>
#include <cstdint>

#include "frontend/ir/size_expr.h"

using namespace tile_tune;
using namespace tile_tune::ir;

namespace {

const auto A = SizeExpr::name("A"), B = SizeExpr::name("B"), N = SizeExpr::name("N");

int64_t value(const SizeExpr& expr, const Sizes& sizes) { return expr.bind(sizes).value().constant().value(); }

}  // namespace

TEST_CASE("size expressions print in a normal form") {
  CHECK((SizeExpr::name("H") - SizeExpr::name("KH") + 1).str() == "H - KH + 1");
  CHECK((1 - SizeExpr::name("KH") + SizeExpr::name("H")).str() == "H - KH + 1");
  CHECK((7 - N).str() == "7 - N");
  CHECK((-N).str() == "-N");
  CHECK((-N - 3).str() == "-N - 3");
  CHECK((2 * N + A * 3 - 4).str() == "3*A + 2*N - 4");
  CHECK(SizeExpr(0).str() == "0");
  CHECK(SizeExpr(-7).str() == "-7");
  CHECK(SizeExpr::floor_div(A + 1, 2).str() == "floor((A + 1)/2)");
  CHECK(SizeExpr::floor_div(A, B + 1).str() == "floor(A/(B + 1))");
  CHECK(SizeExpr::min(B, A).str() == "min(A, B)");
  CHECK((A * B).str() == "A*B");
  CHECK((SizeExpr(INT64_MIN) * N).str() == "-9223372036854775808*N");
}

TEST_CASE("equal size expressions compare equal") {
  CHECK(A + B == B + A);
  CHECK(A + A == 2 * A);
  CHECK((A + B) - B == A);
  CHECK((A - A).constant() == 0);
  CHECK_FALSE(A + 1 == A);
  CHECK(A * B == B * A);
  CHECK((A * 0).constant() == 0);
  CHECK(SizeExpr::min(A, A + 3) == A);
  CHECK(SizeExpr::max(A, A + 3) == A + 3);
  CHECK(SizeExpr::min(-3, 4).constant() == -3);
  CHECK(SizeExpr::max(SizeExpr(INT64_MIN), SizeExpr(1)).constant() == 1);
}

TEST_CASE("floors give up what they can") {
  CHECK(SizeExpr::floor_div(-7, 2).constant() == -4);
  CHECK(SizeExpr::floor_div(7, -2).constant() == -4);
  CHECK(SizeExpr::floor_div(-7, -2).constant() == 3);
  CHECK(SizeExpr::floor_div(INT64_MIN, 3).constant() == -3074457345618258603);
  CHECK(SizeExpr::floor_div(4 * N + A + 5, 2) == 2 * N + 2 + SizeExpr::floor_div(A + 1, 2));
  CHECK(SizeExpr::floor_div(2 * N + 1, 4) == SizeExpr::floor_div(N, 2));
  CHECK(SizeExpr::floor_div(2 * N - 1, 4) == SizeExpr::floor_div(N + 1, 2) - 1);
  CHECK(SizeExpr::floor_div(N, 1) == N);
  CHECK(SizeExpr::floor_div(N, -1) == -N);
  CHECK(SizeExpr::ceil_div(N, 4) == SizeExpr::floor_div(N + 3, 4));
  CHECK(SizeExpr::mod(-7, 4).constant() == 1);
}

TEST_CASE("normal forms have the value of what they were made of") {
  // Against arithmetic on numbers, negative ones included.
  const auto floor = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  for (const int64_t a : {-13, -4, 0, 1, 7})
    for (const int64_t n : {-9, -1, 0, 2, 11})
      for (const int64_t d : {-6, -2, 1, 3, 4}) {
        const Sizes sizes{{"A", a}, {"N", n}};
        CHECK(value(SizeExpr::floor_div(6 * N + 4 * A - 5, d), sizes) == floor(6 * n + 4 * a - 5, d));
        CHECK(value(SizeExpr::mod(2 * A - N, d), sizes) == 2 * a - n - d * floor(2 * a - n, d));
        CHECK(value(SizeExpr::min(A * N, 3 - A) - SizeExpr::max(N, 2 * A), sizes) ==
              std::min(a * n, 3 - a) - std::max(n, 2 * a));
        if (n != 0) CHECK(value(SizeExpr::floor_div(A + d, N), sizes) == floor(a + d, n));
      }
}

TEST_CASE("binding replaces only what it is given") {
  const auto expr = SizeExpr::floor_div(A, 2) + B * N;
  CHECK(expr.names() == std::set<std::string>{"A", "B", "N"});
  CHECK(expr.bind({{"A", 7}, {"N", 3}}).value() == 3 + 3 * B);
  CHECK_FALSE(expr.constant());
}

TEST_CASE("division by zero and overflow are errors of the sizes") {
  const auto zero = SizeExpr::floor_div(A, B).bind({{"A", 1}, {"B", 0}});
  REQUIRE_FALSE(zero);
  CHECK(zero.error().code == "size-division-by-zero");
  CHECK(zero.error().error_class == ErrorClass::Mismatch);
  CHECK_FALSE(SizeExpr::floor_div(1, 0).bind({}));

  for (const auto& expr : {A * A, A + A, A * 3, -(A * -1 - 2) + A, SizeExpr::min(A * 2, B)}) {
    const auto overflow = expr.bind({{"A", INT64_MAX}, {"B", 1}});
    REQUIRE_FALSE(overflow);
    CHECK(overflow.error().code == "size-overflow");
  }
  const SizeExpr beyond = SizeExpr(INT64_MAX) + 1;
  CHECK(beyond.overflowed());
  CHECK_FALSE(beyond.constant());
  CHECK((beyond * 0 - 1).overflowed());
  CHECK(SizeExpr::floor_div(INT64_MIN, -1).overflowed());
  CHECK_FALSE(SizeExpr::max(beyond, N).bind({{"N", 1}}));
}
