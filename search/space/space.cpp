#include "search/space/space.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/check.h"
#include "codegen/schedule/scan.h"
#include "search/space/choices.h"
#include "search/space/default_fusion.h"
#include "search/space/fit.h"
#include "search/space/moves.h"
#include "search/space/placement.h"
#include "search/space/restate.h"
#include "search/space/repair.h"

namespace tile_tune::search {
namespace {

// Share of statements that a random schedule computes elsewhere than in a nest at root, where they can be, and of
// mutations that move one. Half, as for all two-way choices; and as often as all changes of tiles but the register
// tile, since each kind of fusion is one decision of many consequences.
constexpr double kMoved = 0.5, kPlacementMutation = 0.2;

// Natural logarithm of how many schedules one stage has: the product of the decisions' value counts.
double log_size(const StageContext& context) {
  codegen::StageSchedule plain;
  plain.order.resize(1);
  double log_count = 0;
  for (int p = 0; p < context.outputs(); ++p) {
    const double registers = static_cast<double>(register_tiles(context, plain, p).size());
    const double multiples = static_cast<double>(tile_multiples(1, context.loops.output[p]).size());
    log_count += std::log(registers) + std::log(1 + multiples + multiples * multiples / 2);  // one to three levels
    log_count += std::log(p + 1.0);                                                          // one loop order
  }
  log_count += std::log(context.outputs() + 1.0);
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = context.loops.reduction[r];
    log_count += std::log(r + 1.0) + std::log(static_cast<double>(block_choices(extent).size())) +
                 std::log(static_cast<double>(unroll_choices(extent).size()));
  }
  if (codegen::scan_of(context.program->statements[context.statement], context.loops)) log_count += std::log(2.0);
  double lanes = 1;
  for (const int loop : vector_loops(context))
    lanes += static_cast<double>(lane_choices(context, loop < context.outputs()
                                                           ? context.loops.output[loop]
                                                           : context.loops.reduction[loop - context.outputs()])
                                     .size());
  log_count += std::log(lanes);
  for (const int operand : packable_operands(context)) {
    const double orders = std::tgamma(context.loops.operands[operand].subscripts.size() + 1.0);
    log_count += std::log(1 + orders * static_cast<double>(packing_depths(context, plain).size()));
  }
  return log_count;
}

}  // namespace

Space::Space(ir::Program program, codegen::Target target)
    : program_(std::make_shared<const ir::Program>(std::move(program))),
      target_(std::make_shared<const codegen::Target>(std::move(target))) {
  for (size_t s = 0; s < program_->statements.size(); ++s) {
    StageContext context;
    context.program = program_.get();
    context.target = target_.get();
    context.statement = static_cast<int>(s);
    context.loops = codegen::loops_of(*program_, program_->statements[s]);
    context.type = program_->statements[s].accumulator;
    context.can_inline = codegen::inline_consumer(*program_, context.statement) >= 0;
    stages_.push_back(std::move(context));
  }
}

codegen::Schedule Space::default_schedule() const { return search::default_schedule(stages_); }

std::vector<codegen::Schedule> Space::default_alternatives() const { return search::default_alternatives(stages_); }

codegen::Schedule Space::sample(Rng& rng) const {
  codegen::Schedule schedule;
  for (const auto& context : stages_) schedule.stages.push_back(sample_stage(context, rng));
  schedule = repair(stages_, schedule);
  for (int s = static_cast<int>(stages_.size()) - 1; s >= 0; --s)
    if (rng.chance(kMoved)) schedule = draw_placement(stages_, std::move(schedule), s, rng);
  return repair(stages_, std::move(schedule));
}

codegen::Schedule Space::mutate(const codegen::Schedule& parent, Rng& rng) const {
  // A draw may change a decision that repair() takes back; a space with a second member yields one of them soon.
  constexpr int kAttempts = 64;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    codegen::Schedule child = parent;
    const int changes = rng.chance(0.5) ? 1 : 2;
    for (int change = 0; change < changes; ++change) {
      const int s = static_cast<int>(rng.below(stages_.size()));
      auto& stage = child.stages[s];
      if (stage.inlined || stage.epilogue_of >= 0 || (stages_.size() > 1 && rng.chance(kPlacementMutation)))
        child = draw_placement(stages_, std::move(child), s, rng);
      else
        stage = mutate_stage(context_of(stages_, child, s), stage, rng);
      child = repair(stages_, std::move(child));
    }
    if (child != parent) return child;
  }
  return parent;
}

codegen::Schedule Space::crossover(const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) const {
  codegen::Schedule child;
  for (size_t s = 0; s < stages_.size(); ++s)
    child.stages.push_back(cross_stages(stages_[s], a.stages[s], b.stages[s], rng));
  return repair(stages_, std::move(child));
}

codegen::Schedule Space::adapt(const codegen::Schedule& schedule) const { return repair(stages_, schedule); }

std::vector<codegen::Schedule> Space::transfer(const ir::Program& from, const codegen::Schedule& schedule) const {
  std::vector<codegen::Schedule> fits;
  const auto restated = restate(from, schedule, *program_);
  if (!restated) return fits;
  for (const FitRules& rules : {FitRules{false, true}, {true, true}, {false, false}, {true, false}}) {
    codegen::Schedule fitted = *restated;
    for (size_t s = 0; s < stages_.size(); ++s) {
      auto& stage = fitted.stages[s];
      // Tiles of what is computed inside another's loops cut what these leave of it, which follows from them.
      if (stage.inlined || stage.epilogue_of >= 0 || stage.compute_at || stage.scan) continue;
      repair_pieces(stages_[s], stage);
      StageContext context = stages_[s];
      context.loops = codegen::one_piece(std::move(context.loops), stage);
      const auto loops = codegen::one_piece(codegen::loops_of(from, from.statements[s]), schedule.stages[s]);
      stage = fit(context, loops, std::move(stage), rules);
    }
    fitted = repair(stages_, std::move(fitted));
    const bool is_new = std::find(fits.begin(), fits.end(), fitted) == fits.end();
    if (is_new && codegen::check(*program_, fitted)) fits.push_back(std::move(fitted));
  }
  return fits;
}

double Space::log10_size() const {
  double log_count = 0;
  for (size_t s = 0; s < stages_.size(); ++s) {
    log_count += log_size(stages_[s]);
    // Places: at root, inlined, or inside any later statement's loops at some depth of the first level.
    log_count += std::log(1.0 + (stages_[s].can_inline ? 1 : 0) + static_cast<double>(stages_.size() - 1 - s));
  }
  return log_count / std::log(10.0);
}

}  // namespace tile_tune::search
