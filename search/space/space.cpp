#include "search/space/space.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/check.h"
#include "search/space/group_rules.h"
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

void append(Notes& notes, const Notes& more) { notes.insert(notes.end(), more.begin(), more.end()); }

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

Drawn Space::sample(Rng& rng) const {
  codegen::Schedule schedule;
  for (const auto& context : stages_) schedule.stages.push_back(sample_stage(context, rng));
  Drawn drawn = repair(stages_, std::move(schedule));
  for (int s = static_cast<int>(stages_.size()) - 1; s >= 0; --s)
    if (rng.chance(kMoved)) drawn.schedule = draw_placement(stages_, std::move(drawn.schedule), s, rng);
  Drawn placed = repair(stages_, std::move(drawn.schedule));
  append(drawn.notes, placed.notes);
  return {std::move(placed.schedule), std::move(drawn.notes)};
}

Drawn Space::change(const codegen::Schedule& parent, Rng& rng) const {
  const int s = static_cast<int>(rng.below(stages_.size()));
  const auto& stage = parent.stages[s];
  if (!stage.find_nest() || (stages_.size() > 1 && rng.chance(kPlacementMutation)))
    return repair(stages_, draw_placement(stages_, parent, s, rng));
  const Changed changed = mutate_stage(context_of(stages_, parent, s), stage.nest(), rng);
  if (!changed) return {parent, {changed.error()}};
  codegen::Schedule child = parent;
  child.stages[s] = *changed;
  return repair(stages_, std::move(child));
}

Drawn Space::mutate(const codegen::Schedule& parent, Rng& rng) const {
  // A draw may change a decision that repair() takes back; a space with a second member yields one of them soon.
  constexpr int kAttempts = 64;
  Notes notes;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    codegen::Schedule child = parent;
    const int changes = rng.chance(0.5) ? 1 : 2;
    for (int i = 0; i < changes; ++i) {
      Drawn drawn = change(child, rng);
      child = std::move(drawn.schedule);
      append(notes, drawn.notes);
    }
    if (child != parent) return {std::move(child), std::move(notes)};
  }
  notes.push_back("no other schedule was found near it");
  return {parent, std::move(notes)};
}

Drawn Space::crossover(const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) const {
  codegen::Schedule child;
  for (size_t s = 0; s < stages_.size(); ++s) child.stages.push_back(cross_stages(a.stages[s], b.stages[s], rng));
  return repair(stages_, std::move(child));
}

Drawn Space::adapt(const codegen::Schedule& schedule) const { return repair(stages_, schedule); }

std::vector<codegen::Schedule> Space::transfer(const ir::Program& from, const codegen::Schedule& schedule) const {
  std::vector<codegen::Schedule> fits;
  if (target_->device == codegen::Device::Gpu) return fits;
  const auto restated = restate(from, schedule, *program_);
  if (!restated) return fits;
  for (const FitRules& rules : {FitRules{false, true}, {true, true}, {false, false}, {true, false}}) {
    codegen::Schedule fitted = *restated;
    for (size_t s = 0; s < stages_.size(); ++s) {
      auto* nest = fitted.stages[s].find_nest();
      // Tiles of what is computed inside another's loops cut what these leave of it, which follows from them.
      if (!nest || nest->compute_at || nest->scan) continue;
      auto& stage = *nest;
      Notes notes;
      repair_pieces(stages_[s], stage, notes);
      StageContext context = stages_[s];
      context.loops = codegen::one_piece(std::move(context.loops), stage);
      const auto loops = codegen::one_piece(codegen::loops_of(from, from.statements[s]), schedule.stages[s].nest());
      stage = fit(context, loops, std::move(stage), rules);
    }
    fitted = repair(stages_, std::move(fitted)).schedule;
    const bool is_new = std::find(fits.begin(), fits.end(), fitted) == fits.end();
    if (is_new && codegen::check(*program_, fitted)) fits.push_back(std::move(fitted));
  }
  return fits;
}

std::vector<std::pair<codegen::Group, double>> Space::log10_sizes() const {
  std::vector<std::pair<codegen::Group, double>> sizes;
  for (const GroupRules& rules : group_rules(target_->device)) {
    double log_count = 0;
    for (const auto& context : stages_) log_count += rules.log_count(context);
    sizes.emplace_back(rules.group, log_count / std::log(10.0));
  }
  return sizes;
}

double Space::log10_size() const {
  double sum = 0;
  for (const auto& [group, size] : log10_sizes()) sum += size;
  return sum;
}

}  // namespace tile_tune::search
