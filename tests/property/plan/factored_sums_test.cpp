#include <catch2/catch.hpp>

#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/property/plan/random_sums.h"

using namespace tile_tune;

TEST_CASE("sums of products in steps compute what they do as written") { test::judge_random_sums(20'261'123, 250, 8); }

TEST_CASE("a transposed copy of what only one branch of a select reads has the rows that the branch has") {
  const auto program = test::bound_program(
      "def f(float(K,J,M) T, float(K,M,M) A, float(N) x) -> (O) {"
      " O(k,m) +=! T(k,j,m)*x(k + j)*(k > 1 ? A(k,m,m) : A(k,m,m)) }",
      {{"K", 4}, {"J", 5}, {"M", 6}, {"N", 14}});
  test::KernelCheck check(program);
  check.expect_right(search::Space(program, test::host(2)).default_schedule());
}
