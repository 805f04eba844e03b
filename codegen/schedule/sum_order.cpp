#include "codegen/schedule/sum_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "codegen/schedule/matrix_tiles.h"

namespace tile_tune::codegen {
namespace {

/// Blocks of the reduction may cut one loop: those around it run one by one, those inside it as a whole.
NestSchedule in_order_on_gpu(const Loops& loops, NestSchedule stage) {
  stage.gpu().reduction_threads = 1;
  stage.reduction_order.resize(loops.reduction.size());
  std::iota(stage.reduction_order.begin(), stage.reduction_order.end(), 0);
  stage.reduction_order = with_idle_loops_first(loops, std::move(stage.reduction_order));
  bool cut = false;
  for (size_t r = 0; r < loops.reduction.size(); ++r) {
    if (cut) stage.reduction_block[r] = std::max<int64_t>(loops.reduction[r], 1);
    cut = cut || stage.reduction_block[r] > 1;
  }
  // What is unrolled runs inside all that is not.
  bool inside = true;
  for (size_t r = loops.reduction.size(); r-- > 0;) {
    if (!inside) stage.reduction_unroll[r] = 1;
    inside = inside && stage.reduction_unroll[r] == std::max<int64_t>(stage.reduction_block[r], 1);
  }
  return stage;
}

}  // namespace

bool depends_on_order(const ir::Statement& statement) {
  return (statement.op == ir::Aggregation::Sum || statement.op == ir::Aggregation::Product) &&
         (is_float(statement.accumulator) || is_complex(statement.accumulator));
}

std::vector<int> with_idle_loops_first(const Loops& loops, std::vector<int> order) {
  const auto busy = std::stable_partition(order.begin(), order.end(), [&](int r) { return loops.reduction[r] <= 1; });
  std::sort(order.begin(), busy);
  return order;
}

NestSchedule in_order(const ir::Statement& statement, const Loops& loops, NestSchedule stage) {
  if (!depends_on_order(statement) || loops.reduction.empty()) return stage;
  stage.parallel_reduction.reset();
  stage = without_matrix_tiles(std::move(stage));
  stage.dot_product = stage.dot_pairs = stage.scan = false;
  stage.partial_sums = 0;
  if (stage.is_gpu()) return in_order_on_gpu(loops, std::move(stage));
  if (stage.cpu().vector_loop >= static_cast<int>(loops.output.size())) {
    stage.cpu().vector_loop = -1;
    stage.cpu().lanes = 1;
  }
  stage.reduction_order.resize(loops.reduction.size());
  std::iota(stage.reduction_order.begin(), stage.reduction_order.end(), 0);
  stage.reduction_order = with_idle_loops_first(loops, std::move(stage.reduction_order));
  stage.reduction_block = loops.reduction;
  for (auto& block : stage.reduction_block) block = std::max<int64_t>(block, 1);
  // What is unrolled runs inside all that is not.
  int innermost = static_cast<int>(loops.reduction.size()) - 1;
  while (innermost > 0 && loops.reduction[innermost] <= 1) --innermost;
  stage.reduction_unroll.resize(loops.reduction.size(), 1);
  for (int r = 0; r < innermost; ++r) stage.reduction_unroll[r] = 1;
  return stage;
}

Result<void> check_order(const ir::Program& program, const Schedule& schedule) {
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& statement = program.statements[s];
    const Loops loops = loops_of(program, statement);
    if (!schedule.stages[s].find_nest()) continue;
    NestSchedule stage = schedule.stages[s].nest();
    stage.reduction_order = with_idle_loops_first(loops, std::move(stage.reduction_order));
    if (in_order(statement, loops, stage) != stage)
      return fail(ErrorClass::Program, "another-order",
                  fmt::format("the schedule adds up statement {} in another order than deterministic kernels do", s));
  }
  return {};
}

}  // namespace tile_tune::codegen
