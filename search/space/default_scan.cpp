#include "search/space/default_scan.h"

#include "codegen/schedule/scan.h"
#include "codegen/target/costs.h"
#include "search/space/moves.h"
#include "search/space/register_tile.h"

namespace tile_tune::search {

// Each element by itself takes half of the iterations on average, a vector of elements at a time; totals take one, but
// each waits for the one before. The search has both variants at every length.
constexpr int64_t kLeastIterations = codegen::costs::kLeastTotals;

std::optional<codegen::NestSchedule> default_scan(const StageContext& context) {
  const auto& statement = context.program->statements[context.statement];
  if (!codegen::scan_of(statement, context.loops) || context.loops.reduction[0] < kLeastIterations) return std::nullopt;
  StageContext look_up = context;
  look_up.loops.reduction.clear();
  look_up.loops.reduction_index.clear();
  look_up.loops.operands.clear();
  codegen::NestSchedule stage = default_stage(look_up);
  stage.scan = true;
  set_dot_product(stage, DotForm::None);
  stage.reduction_order = {0};
  stage.reduction_block = {1};
  stage.reduction_unroll = {1};
  return stage;
}

}  // namespace tile_tune::search
