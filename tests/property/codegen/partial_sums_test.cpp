// Several sums of each element, with which iterations of a reduction take turns.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

/// The default schedule of a statement with so many sums of each element.
codegen::Schedule with_sums(const ir::Program& program, int sums) {
  auto schedule = search::Space(program, test::host(2)).default_schedule();
  auto& stage = schedule.stages[0].nest();
  if (stage.cpu().vector_loop >= static_cast<int>(stage.tiles.size())) {
    stage.cpu().vector_loop = -1;
    stage.cpu().lanes = 1;
  }
  for (auto& factor : stage.reduction_unroll) factor = 1;
  stage.partial_sums = sums;
  return schedule;
}

ir::Program complex_program() {
  edsl::TensorIndex k, n;
  const auto a = edsl::Placeholder(DType::C32, {8, 3}, "a"), b = edsl::Placeholder(DType::C32, {8}, "b");
  auto sums = edsl::TensorOutput(3);
  sums(n) += a(k, n) * b(k);
  return test::program_of({a, b}, sums);
}

}  // namespace

TEST_CASE("partial sums of elements add up to what the reference has", "[property]") {
  const auto [text, sizes] = GENERATE(
      // Turns that divide the reduction, or leave one, or all but one.
      std::pair{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 1}, {"N", 5}, {"K", 64}}},
      std::pair{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 3}, {"N", 7}, {"K", 67}}},
      std::pair{"def f(float(K,N) A) -> (C) { C(n) max=! A(k,n) }", ir::Sizes{{"N", 9}, {"K", 31}}},
      std::pair{"def f(int32(K,N) A) -> (C) { C(n) *=! A(k,n) }", ir::Sizes{{"N", 9}, {"K", 33}}},
      // Terms that a border leaves out; two loops, of which the inner one takes turns.
      std::pair{"def f(float(N) A, float(K) B) -> (C) { C(n) +=! (n + k >= 9 && n + k < N + 9 ? A(n + k - 9) : 0) * "
                "B(k) where n in 0:N }",
                ir::Sizes{{"N", 11}, {"K", 19}}},
      std::pair{"def f(float(L,K,N) A) -> (C) { C(n) +=! A(l,k,n) }", ir::Sizes{{"N", 6}, {"K", 17}, {"L", 3}}});
  const int sums = GENERATE(2, 3, 8);
  const auto program = test::bound_program(text, sizes);
  CAPTURE(text, sums);
  const auto schedule = with_sums(program, sums);
  REQUIRE(codegen::check(program, schedule));
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("partial sums are those of pieces, of results that lie across, of complex elements and of narrow ones",
          "[property]") {
  SECTION("pieces of a reduction") {
    const auto program = test::bound_program("def f(float(K,N) A) -> (C) { C(n) +=! A(k,n) }", {{"N", 5}, {"K", 64}});
    auto schedule = with_sums(program, 4);
    auto& stage = schedule.stages[0].nest();
    stage.parallel_reduction = codegen::ParallelReduction{0, 4};
    stage.reduction_block = {16};
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck(program).expect_right(schedule);
  }
  SECTION("results that lie across their vectors, in tiles of tiles") {
    const auto program =
        test::bound_program("def f(float(B,M,K) A, float(B,K,N) C) -> (O) { O(m,n,b) +=! A(b,m,k) * C(b,k,n) }",
                            {{"B", 64}, {"M", 2}, {"N", 8}, {"K", 64}});
    for (const auto& target : test::runnable({"x86-64-linux-avx-avx2-f16c-fma-sse41"})) {
      auto schedule = search::Space(program, target).default_schedule();
      test::KernelCheck(program, target).expect_right(schedule);
      auto& stage = schedule.stages[0].nest();
      stage.partial_sums = 4;
      for (auto& factor : stage.reduction_unroll) factor = 1;
      REQUIRE(codegen::check(program, schedule));
      test::KernelCheck(program, target).expect_right(schedule);
    }
  }
  SECTION("complex elements and bytes") {
    const auto text = GENERATE("complex", "def f(uint8(K,N) A, int8(K,M) B) -> (C) { C(n,m) +=! A(k,n) * B(k,m) }",
                               "def f(float16(K,N) A, float16(K) B) -> (float(N) C) { C(n) +=! A(k,n) * B(k) }");
    ir::Sizes sizes{{"N", 3}, {"K", 8}};
    if (std::string(text).find("M") != std::string::npos) sizes["M"] = 1;
    const auto program = std::string(text) == "complex" ? complex_program() : test::bound_program(text, sizes);
    CAPTURE(text);
    auto schedule = with_sums(program, 8);
    auto& stage = schedule.stages[0].nest();
    stage.dot_product = stage.dot_pairs = false;
    stage.packings.clear();
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck(program).expect_right(schedule);
  }
}

TEST_CASE("random members of the space with partial sums are right, and repaired once and for all", "[property]") {
  const auto text = GENERATE("def f(float(5,48) A, float(48,9) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "def f(float(48,1,9) A) -> (C) { C(n) +=! exp(sin(A(k,l,n))) }");
  const auto program = test::bound_program(text, {});
  CAPTURE(text);
  const search::Space space(program, test::host(2));
  search::Rng rng(11);
  int with = 0;
  for (int i = 0; i < 400 && with < 4; ++i) {
    const auto drawn = space.sample(rng).schedule;
    REQUIRE(codegen::check(program, drawn));
    if (drawn.stages[0].nest().partial_sums == 0) continue;
    ++with;
    const auto again = space.adapt(drawn);
    CHECK(again.schedule == drawn);
    CHECK(again.notes.empty());
    test::KernelCheck(program).expect_right(drawn);
  }
  CHECK(with == 4);
}

TEST_CASE("a product of few elements has sums enough in flight by default") {
  const auto program = test::bound_program("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                           {{"M", 1}, {"N", 5}, {"K", 2224}});
  CHECK(search::Space(program, test::host(1)).default_schedule().stages[0].nest().partial_sums == 8);
  auto in_order = codegen::deterministic(test::host(1));
  CHECK(search::Space(program, in_order).default_schedule().stages[0].nest().partial_sums == 0);
}

TEST_CASE("partial sums that a nest has no place for are refused") {
  const auto program = test::bound_program("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                           {{"M", 3}, {"N", 7}, {"K", 12}});
  auto schedule = with_sums(program, 4);
  REQUIRE(codegen::check(program, schedule));
  auto& stage = schedule.stages[0].nest();
  SECTION("one") { stage.partial_sums = 1; }
  SECTION("more than there are") { stage.partial_sums = 9; }
  SECTION("a loop of too few iterations") {
    const auto shorter = test::bound_program("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                             {{"M", 3}, {"N", 7}, {"K", 3}});
    CHECK_FALSE(codegen::check(shorter, with_sums(shorter, 4)));
    stage.partial_sums = 1;
  }
  SECTION("of a loop that is unrolled") { stage.reduction_unroll[0] = 2; }
  SECTION("of a reduction in lanes") {
    stage.cpu().vector_loop = 2;
    stage.cpu().lanes = 4;
  }
  SECTION("of a reduction in blocks") { stage.reduction_block[0] = 4; }
  CHECK_FALSE(codegen::check(program, schedule));
}

}  // namespace tile_tune
