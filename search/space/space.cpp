#include "search/space/space.h"

#include <cmath>

#include "search/space/choices.h"
#include "search/space/moves.h"
#include "search/space/repair.h"

namespace tile_tune::search {
namespace {

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

codegen::Schedule Space::default_schedule() const {
  codegen::Schedule schedule;
  for (const auto& context : stages_) schedule.stages.push_back(repair(context, default_stage(context)));
  return schedule;
}

codegen::Schedule Space::sample(Rng& rng) const {
  codegen::Schedule schedule;
  for (const auto& context : stages_) schedule.stages.push_back(repair(context, sample_stage(context, rng)));
  return schedule;
}

codegen::Schedule Space::mutate(const codegen::Schedule& parent, Rng& rng) const {
  // A draw may change a decision that repair() takes back; a space with a second member yields one of them soon.
  constexpr int kAttempts = 64;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    codegen::Schedule child = parent;
    const int changes = rng.chance(0.5) ? 1 : 2;
    for (int change = 0; change < changes; ++change) {
      const size_t s = rng.below(stages_.size());
      child.stages[s] = repair(stages_[s], mutate_stage(stages_[s], child.stages[s], rng));
    }
    if (child != parent) return child;
  }
  return parent;
}

codegen::Schedule Space::crossover(const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) const {
  codegen::Schedule child;
  for (size_t s = 0; s < stages_.size(); ++s)
    child.stages.push_back(repair(stages_[s], cross_stages(stages_[s], a.stages[s], b.stages[s], rng)));
  return child;
}

codegen::Schedule Space::adapt(const codegen::Schedule& schedule) const {
  codegen::Schedule adapted;
  for (size_t s = 0; s < stages_.size(); ++s) adapted.stages.push_back(repair(stages_[s], schedule.stages[s]));
  return adapted;
}

double Space::log10_size() const {
  double log_count = 0;
  for (const auto& context : stages_) log_count += log_size(context);
  return log_count / std::log(10.0);
}

}  // namespace tile_tune::search
