#include "search/space/default_scan.h"

#include "codegen/schedule/scan.h"
#include "search/space/moves.h"

namespace tile_tune::search {

// Adding up each element by itself takes half of `iterations` steps an element, 16 elements at a time; totals take one,
// but each waits for the one before: two microseconds for 1024 f32 either way at 64 iterations on Zen 4.
constexpr int64_t kLeastIterations = 64;

std::optional<codegen::StageSchedule> default_scan(const StageContext& context) {
  const auto& statement = context.program->statements[context.statement];
  if (!codegen::scan_of(statement, context.loops) || context.loops.reduction[0] < kLeastIterations) return std::nullopt;
  StageContext look_up = context;
  look_up.loops.reduction.clear();
  look_up.loops.reduction_index.clear();
  look_up.loops.operands.clear();
  codegen::StageSchedule stage = default_stage(look_up);
  stage.scan = true;
  stage.dot_product = false;
  stage.reduction_order = {0};
  stage.reduction_block = {1};
  stage.reduction_unroll = {1};
  return stage;
}

}  // namespace tile_tune::search
