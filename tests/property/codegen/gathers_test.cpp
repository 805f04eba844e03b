#include "gathers.h"

#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/runtime_sizes.h"
#include "frontend/ir/index_checks.h"
#include "frontend/tensor/convert.h"
#include "kernel_check.h"
#include "search/space/checked_schedule.h"
#include "search/space/space.h"

using namespace tile_tune;

namespace {

constexpr int64_t kLength = 1009, kPieceBytes = 256;

struct Drawn {
  ir::Program program;
  reference::Inputs inputs;
  int indices = -1;  // the first input of int32
};

Drawn drawn(const std::string& text) {
  Drawn result{test::bound_program(text, {{"N", kLength}}), {}, -1};
  result.inputs = reference::random_inputs(result.program, 7);
  for (const int input : result.program.inputs)
    if (result.indices < 0 && result.program.tensors[input].type == DType::I32) result.indices = input;
  return result;
}

codegen::Schedule in_turn(const ir::Program& program, const ir::Program& checked, int threads) {
  const auto target = test::host(threads);
  return search::with_index_checks(checked, search::Space(program, target).default_schedule(), target, kPieceBytes);
}

}  // namespace

TEST_CASE("random gathers with their checks compute what the reference does, whatever the indices are") {
  test::expect_right_gathers(1, 12);
}

TEST_CASE("indices are looked at in turn with what uses them, wherever one is outside") {
  const std::string text = GENERATE(as<std::string>(),  //
                                    "def g(float(50) T, int32(N) I) -> (O) { O(i) = T(I(i)) }",
                                    "def g(float(50) T, int32(N) I, float(9) U, int64(N) J) -> (O) "
                                    "{ O(i) = T(I(i)) * U(J(i)) }",
                                    "def g(float(50,7) T, int32(N,3) I) -> (O) { O(b,e) +=! T(I(b,l), e) }",
                                    "def g(float(50) T, int32(N) I, float(N) c) -> (O, S) "
                                    "{ O(i) = c(i) > 0 ? T(I(i)) : c(i)  S(i) max=! O(j) * c(i) where j in 0:N }");
  CAPTURE(text);
  auto [program, inputs, indices] = drawn(text);
  const auto checked = ir::with_index_checks(program);
  for (const int threads : {1, 2}) {
    const auto schedule = in_turn(program, checked, threads);
    CHECK(!schedule.in_turn.empty());
    auto& array = inputs.at(indices);
    for (const int64_t outside : {int64_t{-1}, int64_t{0}, array.element_count() / 2, array.element_count() - 1}) {
      CAPTURE(threads, outside);
      auto wrong = inputs;
      if (outside >= 0) tensor::store_integer(DType::I32, wrong.at(indices).data.data(), outside, 50);
      test::KernelCheck(checked, wrong, test::host(threads)).expect_right(schedule);
    }
  }
}

TEST_CASE("the loops of a check are cut into pieces with those of the gather between them") {
  const auto program =
      test::bound_program("def g(float(50) T, int32(N) I) -> (O) { O(i) = T(I(i)) }", {{"N", kLength}});
  const auto checked = ir::with_index_checks(program);
  auto schedule = in_turn(program, checked, 1);
  const auto together = codegen::lowered_loops(checked, schedule, test::host(1)).value();
  const auto loop = together.find("for (turn");
  REQUIRE(loop != std::string::npos);
  CHECK(together.find("tensor0[") > loop);  // the table, which nothing but the gather reads
  schedule.in_turn.clear();
  CHECK(codegen::lowered_loops(checked, schedule, test::host(1)).value().find("for (turn") == std::string::npos);
}

TEST_CASE("a kernel for many sizes looks at its indices in turn with what uses them") {
  const auto checked_at = [](const std::vector<int64_t>& sizes) -> Result<ir::Program> {
    const std::string text = "def g(float(50) T, int32(N) I) -> (O) { O(i) = T(I(i)) }";
    return ir::with_index_checks(test::bound_program(text, {{"N", sizes.front()}}));
  };
  const auto sizes = codegen::find_runtime_sizes(checked_at, {"N"}, {{kLength}, {kLength + 1}, {2 * kLength}});
  REQUIRE(sizes);
  const auto checked = *checked_at({kLength});
  const auto plain = test::bound_program("def g(float(50) T, int32(N) I) -> (O) { O(i) = T(I(i)) }", {{"N", kLength}});
  for (const bool guarded : {false, true}) {
    const auto schedule = codegen::for_all_sizes(checked, in_turn(plain, checked, 1), *sizes, guarded);
    REQUIRE(schedule);
    REQUIRE_FALSE(schedule->in_turn.empty());
    const auto loops = codegen::lowered_loops(checked, *schedule, test::host(1)).value();
    CHECK(loops.find("for (turn") != std::string::npos);
    for (const int64_t length : {int64_t{1}, int64_t{63}, int64_t{64}, kLength, int64_t{4001}}) {
      if (!codegen::serves(checked, *schedule, {length})) continue;
      const auto program = *checked_at({length});
      const auto inputs = reference::random_inputs(program, 7);
      for (const int64_t outside : {int64_t{-1}, int64_t{0}, length / 2, length - 1}) {
        CAPTURE(guarded, length, outside);
        auto wrong = inputs;
        if (outside >= 0) tensor::store_integer(DType::I32, wrong.at(program.inputs[1]).data.data(), outside, 50);
        test::KernelCheck(program, wrong, test::host(1)).expect_right(*schedule, checked);
      }
    }
  }
}

TEST_CASE("only statements that read inputs alone run in turn with one before them") {
  const auto program = test::bound_program("def g(float(N) x) -> (a, s) { a(i) = 2 * x(i)  s +=! a(i) }", {{"N", 64}});
  auto schedule = search::Space(program, test::host(1)).default_schedule();
  schedule.in_turn = {{1, 0, 4}};
  CHECK_FALSE(codegen::check(program, schedule));
  schedule.in_turn = {{0, 1, 4}};
  CHECK_FALSE(codegen::check(program, schedule));
}
