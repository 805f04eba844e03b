// What is staged in shared memory, loaded a block of the reduction ahead: right values, and one barrier a block.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "Halide.h"
#include "codegen/lower/compile.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/lower.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

struct Ahead {
  std::string text;
  ir::Sizes sizes;
  std::function<void(codegen::NestSchedule&)> change;
};

std::string product_of(const std::string& type) {
  return "def f(" + type + "(M,K) A, " + type + "(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
}

const std::string kWindows =
    "def f(float(N,C,H,W) I, float(F,C,3,3) V) -> (O) { O(n,f,h,w) +=! I(n,c,h+kh,w+kw) * V(f,c,kh,kw) "
    "where kh in 0:3, kw in 0:3 }";

// Blocks of 16 x 16 by threads of 2 x 4, both operands staged so many steps of the reduction at a time.
void product_nest(codegen::NestSchedule& nest, int64_t block) {
  nest.tiles = {{16, 2}, {16, 4}};
  nest.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  nest.reduction_block = {block};
  nest.reduction_unroll = {static_cast<int>(block)};
  nest.gpu().vector_loop = 1;
  nest.gpu().lanes = 4;
  nest.gpu().interleaved = true;
  nest.gpu().padding = 4;
}

const std::vector<Ahead>& all_ahead() {
  static const std::vector<Ahead> all{
      {product_of("float"), {{"M", 61}, {"N", 67}, {"K", 35}}, [](auto& n) { product_nest(n, 5); }},
      // Two blocks, and copies that threads share unevenly.
      {product_of("float"), {{"M", 19}, {"N", 36}, {"K", 22}}, [](auto& n) { product_nest(n, 11); }},
      // A loop inside a block, one operand staged.
      {product_of("float"),
       {{"M", 33}, {"N", 44}, {"K", 48}},
       [](auto& n) {
         product_nest(n, 16);
         n.reduction_unroll = {4};
         n.packings.pop_back();
       }},
      {product_of("double"), {{"M", 17}, {"N", 20}, {"K", 12}}, [](auto& n) { product_nest(n, 4); }},
      {product_of("int8"), {{"M", 31}, {"N", 48}, {"K", 40}}, [](auto& n) { product_nest(n, 8); }},
      {product_of("bfloat16"), {{"M", 31}, {"N", 33}, {"K", 15}}, [](auto& n) { product_nest(n, 3); }},
      // The next block of an inner loop alone, anew in each iteration of the outer one.
      {kWindows,
       {{"N", 2}, {"C", 6}, {"F", 5}, {"H", 11}, {"W", 13}},
       [](auto& n) {
         n.tiles = {{1, 1}, {4, 2}, {3, 1}, {8, 4}};
         n.packings = {{0, 4, {3, 2, 1, 0}}, {1, 4, {0, 3, 2, 1}}};
         n.reduction_block = {2, 1, 3};
         n.reduction_unroll = {1, 1, 3};
       }},
      // Pieces of the reduction, in each of which blocks are loaded ahead.
      {product_of("float"), {{"M", 30}, {"N", 44}, {"K", 48}}, [](auto& n) {
         product_nest(n, 4);
         n.parallel_reduction = codegen::ParallelReduction{0, 3};
       }}};
  return all;
}

// Barriers in loops of a kernel, but for those over blocks and threads.
class LoopBarriers : public Halide::Internal::IRMutator {
 public:
  explicit LoopBarriers(int* count) : count_(count) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override {
    loops_ += op->for_type == Halide::Internal::ForType::Serial;
    Halide::Internal::Stmt result = IRMutator::visit(op);
    loops_ -= op->for_type == Halide::Internal::ForType::Serial;
    return result;
  }
  Halide::Expr visit(const Halide::Internal::Call* op) override {
    *count_ += loops_ > 0 && op->is_intrinsic(Halide::Internal::Call::gpu_thread_barrier);
    return IRMutator::visit(op);
  }
  int* count_;
  int loops_ = 0;
};

int loop_barriers(const ir::Program& program, const codegen::Schedule& schedule, const codegen::Target& target) {
  int count = 0;
  codegen::Lowered lowered = codegen::lower(program, schedule, target, {});
  lowered.pipeline.add_custom_lowering_pass(new LoopBarriers(&count));
  lowered.pipeline.compile_to_module(lowered.arguments(), "f", codegen::halide_target(target));
  return count;
}

}  // namespace

TEST_CASE("blocks of a reduction loaded ahead make the same sums") {
  const auto one = GENERATE(from_range(all_ahead()));
  const auto program = test::gpu_program(one.text, one.sizes);
  auto schedule = test::changed(test::plain_gpu_schedule(program), 0, one.change);
  schedule.stages[0].nest().gpu().pipelined = true;
  CAPTURE(one.text);
  test::expect_right(program, schedule);
}

TEST_CASE("threads wait for each other once for each block loaded ahead, and what is on its way is in registers") {
  const auto program = test::gpu_program(product_of("float"), {{"M", 256}, {"N", 256}, {"K", 256}});
  const auto target = codegen::parse_target("x86-64-linux-cuda-cuda_capability_80").value();
  auto schedule = test::changed(test::plain_gpu_schedule(program), 0, [](auto& nest) { product_nest(nest, 16); });
  CHECK(loop_barriers(program, schedule, target) > 1);
  schedule.stages[0].nest().gpu().pipelined = true;
  CHECK(loop_barriers(program, schedule, target) == 1);
  const auto code = codegen::device_code(program, schedule, target);
  REQUIRE(code);
  CHECK_THAT(*code, !Catch::Contains(".local"));
}

}  // namespace tile_tune
