// One vector that is longer than its loop: lanes beyond it read nothing outside, and are not stored.
#include <bit>
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/runtime_sizes.h"
#include "codegen/schedule/masked_vector.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

constexpr const char* kProduct = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

/// The default schedule with the first statement in one vector along its last loop, and two rows of every other.
codegen::Schedule with_masked_vector(const ir::Program& program, const codegen::Target& target) {
  auto schedule = search::Space(program, target).default_schedule();
  const auto loops = codegen::loops_of(program, program.statements[0]);
  const int last = static_cast<int>(loops.output.size()) - 1;
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = last;
  stage.cpu().lanes = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(loops.output[last])));
  for (const int64_t extent : loops.output) stage.tiles.push_back({std::min<int64_t>(extent, 2)});
  stage.tiles.back() = {stage.cpu().lanes};
  stage.order.emplace_back();
  for (int p = 0; p <= last; ++p) stage.order[0].push_back(p);
  for (size_t r = 0; r < loops.reduction.size(); ++r) stage.reduction_order.push_back(static_cast<int>(r));
  for (const int64_t extent : loops.reduction) stage.reduction_block.push_back(std::max<int64_t>(extent, 1));
  stage.cpu().parallel = std::min(last, 2);
  stage.reduction_unroll.assign(loops.reduction.size(), 1);
  schedule.stages[0] = stage;
  return schedule;
}

std::vector<codegen::Target> targets() {
  return test::runnable({"x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41",
                         "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41"});
}

}  // namespace

TEST_CASE("vectors longer than their loop compute what the reference has", "[property]") {
  const auto [text, sizes] = GENERATE(
      std::pair{kProduct, ir::Sizes{{"M", 5}, {"N", 7}, {"K", 9}}},
      std::pair{kProduct, ir::Sizes{{"M", 4}, {"N", 3}, {"K", 1}}},
      std::pair{kProduct, ir::Sizes{{"M", 1}, {"N", 13}, {"K", 6}}},
      std::pair{kProduct, ir::Sizes{{"M", 3}, {"N", 7}, {"K", 0}}},
      std::pair{"def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 3}, {"N", 5}, {"K", 8}}},
      std::pair{"def f(int32(M,K) A, int32(K,N) B) -> (C) { C(m,n) min=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 3}, {"N", 6}, {"K", 8}}},
      std::pair{"def f(float16(M,K) A, float16(K,N) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 3}, {"N", 7}, {"K", 5}}},
      std::pair{"def f(int8(M,K) A, int8(K,N) B) -> (int32(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }",
                ir::Sizes{{"M", 3}, {"N", 11}, {"K", 5}}},
      // Windows that slide along the vector, over borders and where there are none, in steps.
      std::pair{"def f(float(Y,X) I, float(3) W) -> (O) { O(y,x) +=! (x + j >= 1 && x + j < X + 1 ? I(y,x + j - 1) : 0)"
                " * W(j) where x in 0:X }",
                ir::Sizes{{"Y", 3}, {"X", 7}}},
      std::pair{"def f(float(Y,X) I, float(3) W) -> (O) { O(y,x) +=! I(y,2 * x + j) * W(j) }",
                ir::Sizes{{"Y", 3}, {"X", 13}}},
      // Rows that an array names.
      std::pair{"def f(float(V,D) E, int32(B,K) I, float(K) W) -> (O) { O(b,d) +=! E(I(b,k),d) * W(k) }",
                ir::Sizes{{"V", 9}, {"D", 5}, {"B", 4}, {"K", 3}}},
      std::pair{"def f(float(M,N) A) -> (C) { C(m,n) = A(m,n) / (n + 1) }", ir::Sizes{{"M", 5}, {"N", 7}}});
  const auto program = test::bound_program(text, sizes);
  for (const auto& target : targets()) {
    const auto schedule = with_masked_vector(program, target);
    CAPTURE(text, target.text());
    REQUIRE(codegen::has_masked_vector(codegen::loops_of(program, program.statements[0]), schedule.stages[0].nest()));
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck(program, target).expect_right(schedule);
  }
}

TEST_CASE("operands of masked vectors are copied, or were before", "[property]") {
  const std::string text = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
  const auto [sizes, depth, order] =
      GENERATE(std::tuple{ir::Sizes{{"M", 5}, {"N", 7}, {"K", 19}}, 0, std::vector<int>{0, 1}},
               std::tuple{ir::Sizes{{"M", 5}, {"N", 7}, {"K", 19}}, 1, std::vector<int>{0, 1}},
               std::tuple{ir::Sizes{{"M", 5}, {"N", 15}, {"K", 400}}, 0, std::vector<int>{0, 1}},
               std::tuple{ir::Sizes{{"M", 5}, {"N", 3}, {"K", 2}}, 0, std::vector<int>{1, 0}});
  auto program = test::bound_program(text, sizes);
  program.tensors[program.inputs[1]].constant = GENERATE(false, true);
  for (const auto& target : targets()) {
    auto schedule = with_masked_vector(program, target);
    schedule.stages[0].nest().packings = {{1, program.tensors[program.inputs[1]].constant ? 0 : depth, order}};
    CAPTURE(depth, target.text());
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck check(program, target);
    check.expect_right(schedule);
    CHECK_FALSE(check.computes_with_unwritten(schedule));
  }
}

TEST_CASE("epilogues and later statements read what masked vectors store", "[property]") {
  const std::string text =
      "def f(float(M,K) A, float(K,N) B, float(N) C) -> (O, S) { H(m,n) +=! A(m,k) * B(k,n)  O(m,n) = fmax(H(m,n) + "
      "C(n), 0)  S(m) +=! O(m,n) }";
  const auto program = test::bound_program(text, {{"M", 5}, {"N", 7}, {"K", 9}});
  const bool has_epilogue = GENERATE(true, false);
  for (const auto& target : targets()) {
    auto schedule = with_masked_vector(program, target);
    if (has_epilogue) schedule.stages[1] = codegen::Epilogue{0};
    schedule.stages[2] = search::Space(program, target).default_schedule().stages[2];
    CAPTURE(target.text(), has_epilogue);
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck(program, target).expect_right(schedule);
  }
}

TEST_CASE("pieces of a reduction, and results past the caches, are stored by masked vectors", "[property]") {
  const auto program = test::bound_program(kProduct, {{"M", 5}, {"N", 7}, {"K", 8}});
  const bool has_pieces = GENERATE(true, false);
  for (const auto& target : targets()) {
    auto schedule = with_masked_vector(program, target);
    auto& stage = schedule.stages[0].nest();
    if (has_pieces) {
      stage.parallel_reduction = codegen::ParallelReduction{0, 4};
      stage.reduction_block = {2};
    } else {
      stage.cpu().streaming = true;
    }
    CAPTURE(target.text(), has_pieces);
    REQUIRE(codegen::check(program, schedule));
    test::KernelCheck(program, target).expect_right(schedule);
  }
}

TEST_CASE("no epilogue of a masked vector has values before, or results that lie across", "[property]") {
  const auto text = GENERATE(
      // What the second output starts from is there in the loop's extent alone.
      "def f(float(M,N) D, float(M,K) A, float(K,N) B) -> (O) { H(m,n) +=! A(m,k) * B(k,n)  O(m,n) = D(m,n) * 2  "
      "O(m,n) += H(m,n) }",
      "def f(float(M,K) A, float(K,N) B) -> (O) { H(m,n) +=! A(m,k) * B(k,n)  O(n,m) = H(m,n) * 2 + 1 }");
  const auto program = test::bound_program(text, {{"M", 5}, {"N", 7}, {"K", 9}});
  const int last = static_cast<int>(program.statements.size()) - 1;
  for (const auto& target : targets()) {
    const search::Space space(program, target);
    auto schedule = with_masked_vector(program, target);
    schedule.stages[last] = codegen::Epilogue{0};
    CAPTURE(text, target.text());
    CHECK_FALSE(codegen::check(program, schedule));
    const auto adapted = space.adapt(schedule).schedule;
    REQUIRE(codegen::check(program, adapted));
    CHECK(adapted.stages[0].nest().cpu().lanes == 4);
    test::KernelCheck(program, target).expect_right(adapted);
    test::KernelCheck(program, target).expect_right(space.default_schedule());
  }
}

TEST_CASE("kernels for many sizes have masked vectors along loops whose size they know", "[property]") {
  const auto at = [](int64_t m, int64_t n) { return test::bound_program(kProduct, {{"M", m}, {"N", n}, {"K", 4}}); };
  const auto sizes_of = [](const auto& program_at, int64_t value) {
    const auto sizes = codegen::find_runtime_sizes(program_at, {"S"}, {{value}, {value + 2}, {value + 9}});
    REQUIRE(sizes);
    return *sizes;
  };
  const bool guarded = GENERATE(false, true);
  const auto target = test::host(2);
  const auto rows = [&](const auto& values) -> Result<ir::Program> { return at(values[0], 7); };
  const auto family =
      codegen::for_all_sizes(at(5, 7), with_masked_vector(at(5, 7), target), sizes_of(rows, 5), guarded);
  REQUIRE(family);
  CHECK(family->stages[0].nest().cpu().lanes == 8);
  for (const int64_t m : {5, 6, 17}) test::KernelCheck(at(m, 7)).expect_right(*family, at(5, 7));
  const auto columns = [&](const auto& values) -> Result<ir::Program> { return at(5, values[0]); };
  const auto wide =
      codegen::for_all_sizes(at(5, 7), with_masked_vector(at(5, 7), target), sizes_of(columns, 7), guarded);
  REQUIRE(wide);
  CHECK(wide->stages[0].nest().cpu().lanes == 4);
  for (const int64_t n : {7, 9, 20}) test::KernelCheck(at(5, n)).expect_right(*wide, at(5, 7));
}

TEST_CASE("vectors longer than their loop are refused where their lanes cannot be left out", "[property]") {
  const auto program = test::bound_program(kProduct, {{"M", 5}, {"N", 7}, {"K", 8}});
  const auto target = test::host(2);
  const auto fault = [&](const ir::Program& of, const auto& change) {
    auto schedule = with_masked_vector(of, target);
    change(schedule.stages[0].nest());
    const auto checked = codegen::check(of, schedule);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().message.find("longer than their loop") != std::string::npos);
  };
  const auto two = [](codegen::NestSchedule& stage) { stage.tiles[1] = {2 * stage.cpu().lanes}; };
  const auto twice = [](codegen::NestSchedule& stage) { stage.tiles[1] = {stage.cpu().lanes *= 2}; };
  const auto blocked = [](codegen::NestSchedule& stage) { stage.reduction_block = {4}; };
  const auto levels = [](codegen::NestSchedule& stage) {
    for (auto& tiles : stage.tiles) tiles.push_back(tiles.back());
    stage.order.push_back(stage.order.back());
  };
  const auto as_it_is = [](codegen::NestSchedule&) {};
  fault(program, two);
  fault(program, twice);
  fault(program, blocked);
  fault(program, levels);
  const auto across = [](codegen::NestSchedule& stage) {
    stage.tiles = {{8}, {1}};
    stage.cpu().vector_loop = 0;
  };
  const auto inside = [](codegen::NestSchedule& stage) { stage.compute_at = codegen::ComputeAt{0, 1}; };
  fault(program, across);
  CHECK_FALSE(codegen::check(program, [&] {
    auto schedule = with_masked_vector(program, target);
    inside(schedule.stages[0].nest());
    return schedule;
  }()));
  // What is added to lies beyond, too.
  fault(test::bound_program("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
                            {{"M", 5}, {"N", 7}, {"K", 8}}),
        as_it_is);
}

}  // namespace tile_tune
