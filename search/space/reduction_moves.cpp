// How a reduction runs: the order of its loops, blocks, unrolling, parallel pieces, dot products, running totals.
#include <cmath>

#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/partial_sums.h"
#include "codegen/schedule/scan.h"
#include "search/space/choices.h"
#include "search/space/group_rules.h"
#include "search/space/draws.h"
#include "search/space/register_tile.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;

const ir::Statement& statement_of(const StageContext& context) {
  return context.program->statements[context.statement];
}

std::vector<int64_t> unrolls_of(const StageContext& context, const NestSchedule& stage, int r) {
  if (codegen::may_leave_some(statement_of(context), context.loops, stage, r))
    return uneven_unroll_choices(context.loops.reduction[r]);
  return unroll_choices(codegen::most_unrolled(std::max<int64_t>(context.loops.reduction[r], 1),
                                               std::max<int64_t>(stage.reduction_block[r], 1)));
}

bool can_scan(const StageContext& context) {
  return codegen::scan_of(statement_of(context), context.loops).has_value();
}

const std::vector<int> kPartialSums{0, 2, 4, codegen::kMostPartialSums};

bool can_have_partial_sums(const StageContext& context) { return context.reductions() > 0 && !keeps_order(context); }

void take_turns(const StageContext& context, NestSchedule& stage, int sums) {
  stage.partial_sums = sums;
  if (sums > 0) stage.reduction_unroll[codegen::loop_of_turns(context.loops, stage)] = 1;
}

std::vector<codegen::ParallelReduction> cuts(const StageContext& context, int r) {
  std::vector<codegen::ParallelReduction> result;
  if (!context.loops.direct) return result;
  for (const int pieces : uneven_piece_choices(context, r)) result.push_back({r, pieces});
  return result;
}

double log_reduction(const StageContext& context) {
  double log_count = log_reduction_loops(context);
  log_count += std::log(static_cast<double>(dot_products_of(context).size()));
  if (can_scan(context)) log_count += std::log(2.0);
  if (can_have_partial_sums(context)) log_count += std::log(static_cast<double>(kPartialSums.size()));
  return log_count;
}

void draw_reduction(const StageContext& context, NestSchedule& stage, Rng& rng) {
  stage.reduction_order = random_order(context.reductions(), rng);
  for (int r = 0; r < context.reductions(); ++r) {
    // Most reductions run through in registers; blocks are the exception that long ones want.
    const auto blocks = uneven_block_choices(context.loops.reduction[r]);
    stage.reduction_block.push_back(rng.chance(0.7) ? context.loops.reduction[r] : rng.pick(blocks));
    stage.reduction_unroll.push_back(static_cast<int>(rng.pick(unrolls_of(context, stage, r))));
  }
  // Few programs have so few outputs that pieces pay.
  if (context.reductions() > 0 && rng.chance(0.15))
    if (const auto choices = cuts(context, static_cast<int>(rng.below(context.reductions()))); !choices.empty())
      stage.parallel_reduction = rng.pick(choices);
  if (const auto forms = dot_products_of(context); forms.size() > 1) set_dot_product(stage, rng.pick(forms));
  if (can_scan(context)) stage.scan = rng.chance(0.5);
  // Most tiles have elements enough.
  if (can_have_partial_sums(context) && rng.chance(0.1)) take_turns(context, stage, rng.pick(kPartialSums));
}

// Running totals, or each element for itself, in registers.
Changed change_scan(const StageContext& context, NestSchedule stage) {
  stage.scan = !stage.scan;
  if (!stage.scan) stage.reduction_block = codegen::loops_of(*context.program, statement_of(context)).reduction;
  return stage;
}

Changed change_dot_product(const StageContext& context, NestSchedule stage, Rng& rng) {
  auto forms = dot_products_of(context);
  std::erase(forms, dot_form(stage));
  if (forms.empty()) return refused("the CPU has no dot products for its operands");
  set_dot_product(stage, rng.pick(forms));
  return stage;
}

Changed change_partial_sums(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (!can_have_partial_sums(context)) return refused("its elements have one sum each, in its order");
  take_turns(context, stage, step_or_draw(kPartialSums, stage.partial_sums, rng));
  return stage;
}

Changed change_pieces(const StageContext& context, NestSchedule stage, int r, Rng& rng) {
  if (stage.parallel_reduction) {
    stage.parallel_reduction.reset();
    return stage;
  }
  const auto choices = cuts(context, r);
  if (choices.empty()) return refused("its reduction has no pieces to run in parallel");
  stage.parallel_reduction = rng.pick(choices);
  return stage;
}

Changed change_reduction(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (context.reductions() == 0) return refused("it has no reduction");
  if (can_scan(context) && rng.chance(0.3)) return change_scan(context, std::move(stage));
  const int r = static_cast<int>(rng.below(context.reductions()));
  switch (rng.below(6)) {
    case 0:
      stage.reduction_block[r] =
          step_or_draw(uneven_block_choices(context.loops.reduction[r]), stage.reduction_block[r], rng);
      return stage;
    case 1:
      stage.reduction_unroll[r] =
          static_cast<int>(step_or_draw(unrolls_of(context, stage, r), stage.reduction_unroll[r], rng));
      return stage;
    case 2:
      return change_dot_product(context, std::move(stage), rng);
    case 3:
      return change_partial_sums(context, std::move(stage), rng);
    case 4:
      return change_pieces(context, std::move(stage), r, rng);
    default:
      std::swap(stage.reduction_order[r], stage.reduction_order[rng.below(context.reductions())]);
      return stage;
  }
}

}  // namespace

GroupRules reduction_rules() {
  return {.group = codegen::Group::Reduction,
          .log_count = log_reduction,
          .draw = draw_reduction,
          .moves = {{0.10, change_reduction}}};
}

}  // namespace tile_tune::search
