#include "search/space/space.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/check.h"
#include "codegen/schedule/collapsed_form.h"
#include "frontend/ir/collapsed.h"
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

/// Whether the schedule has as many stages, and each as many loops.
bool are_loops_of(const std::vector<StageContext>& stages, const codegen::Schedule& schedule) {
  bool alike = stages.size() == schedule.stages.size();
  for (size_t s = 0; alike && s < stages.size(); ++s) {
    const auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    alike = nest->tiles.size() == stages[s].loops.output.size() &&
            (nest->scan || nest->reduction_order.size() == stages[s].loops.reduction.size());
  }
  return alike;
}

/// Space::transfer() between programs as schedules speak of them.
std::vector<codegen::Schedule> transferred(const ir::Program& program, const std::vector<StageContext>& stages,
                                           const ir::Program& from, const codegen::Schedule& schedule) {
  std::vector<codegen::Schedule> fits;
  const auto restated = restate(from, schedule, program);
  if (!restated) return fits;
  for (const FitRules& rules : {FitRules{false, true}, {true, true}, {false, false}, {true, false}}) {
    codegen::Schedule fitted = *restated;
    for (size_t s = 0; s < stages.size(); ++s) {
      auto* nest = fitted.stages[s].find_nest();
      // Tiles of what is computed inside another's loops cut what these leave of it, which follows from them.
      if (!nest || nest->compute_at || nest->scan) continue;
      auto& stage = *nest;
      Notes notes;
      repair_pieces(stages[s], stage, notes);
      StageContext context = stages[s];
      context.loops = codegen::one_piece(std::move(context.loops), stage);
      const auto loops = codegen::one_piece(codegen::loops_of(from, from.statements[s]), schedule.stages[s].nest());
      stage = fit(context, loops, std::move(stage), rules);
    }
    fitted = repair(stages, std::move(fitted)).schedule;
    const bool is_new = std::find(fits.begin(), fits.end(), fitted) == fits.end();
    if (is_new && codegen::check(program, fitted)) fits.push_back(std::move(fitted));
  }
  return fits;
}

}  // namespace

Space::Space(ir::Program program, codegen::Target target, Dimensions dimensions)
    : target_(std::make_shared<const codegen::Target>(std::move(target))),
      apart_(make_form(std::move(program))),
      dimensions_(dimensions) {
  if (auto collapsed = ir::collapsed(*apart_.program); collapsed && !target_->deterministic)
    collapsed_ = make_form(std::move(*collapsed));
  is_collapsed_ = collapsed_ && dimensions == Dimensions::Collapsed;
}

Space::Form Space::make_form(ir::Program program) const {
  Form form{std::make_shared<const ir::Program>(std::move(program)), {}};
  for (size_t s = 0; s < form.program->statements.size(); ++s) {
    StageContext context;
    context.program = form.program.get();
    context.target = target_.get();
    context.statement = static_cast<int>(s);
    context.loops = codegen::loops_of(*form.program, form.program->statements[s]);
    context.type = form.program->statements[s].accumulator;
    context.can_inline = codegen::inline_consumer(*form.program, context.statement) >= 0;
    form.stages.push_back(std::move(context));
  }
  return form;
}

const Space::Form& Space::form_of(const codegen::Schedule& schedule) const {
  return schedule.collapsed && collapsed_ ? *collapsed_ : apart_;
}

codegen::Schedule Space::as_own(codegen::Schedule schedule) const {
  schedule.collapsed = is_collapsed_;
  return schedule;
}

codegen::Schedule Space::default_schedule() const { return as_own(search::default_schedule(own().stages)); }

std::vector<codegen::Schedule> Space::default_alternatives() const {
  std::vector<codegen::Schedule> alternatives;
  if (is_collapsed_) alternatives.push_back(search::default_schedule(apart_.stages));
  for (auto& one : search::default_alternatives(own().stages)) alternatives.push_back(as_own(std::move(one)));
  return alternatives;
}

Drawn Space::sample(Rng& rng) const {
  const auto& stages = own().stages;
  codegen::Schedule schedule;
  for (const auto& context : stages) schedule.stages.push_back(sample_stage(context, rng));
  Drawn drawn = repair(stages, std::move(schedule));
  for (int s = static_cast<int>(stages.size()) - 1; s >= 0; --s)
    if (rng.chance(kMoved)) drawn.schedule = draw_placement(stages, std::move(drawn.schedule), s, rng);
  Drawn placed = repair(stages, std::move(drawn.schedule));
  append(drawn.notes, placed.notes);
  return {as_own(std::move(placed.schedule)), std::move(drawn.notes)};
}

Drawn Space::change(const codegen::Schedule& parent, Rng& rng) const {
  const auto& stages = form_of(parent).stages;
  const int s = static_cast<int>(rng.below(stages.size()));
  const auto& stage = parent.stages[s];
  if (!stage.find_nest() || (stages.size() > 1 && rng.chance(kPlacementMutation)))
    return repair(stages, draw_placement(stages, parent, s, rng));
  const Changed changed = mutate_stage(context_of(stages, parent, s), stage.nest(), rng);
  if (!changed) return {parent, {changed.error()}};
  codegen::Schedule child = parent;
  child.stages[s] = *changed;
  return repair(stages, std::move(child));
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
  if (a.collapsed != b.collapsed) return {a, {"the parents cut other loops"}};
  codegen::Schedule child = a;
  for (size_t s = 0; s < a.stages.size(); ++s) child.stages[s] = cross_stages(a.stages[s], b.stages[s], rng);
  return repair(form_of(a).stages, std::move(child));
}

bool Space::has_loops_of(const codegen::Schedule& schedule) const {
  return schedule.collapsed <= collapsed_.has_value() && are_loops_of(form_of(schedule).stages, schedule);
}

Drawn Space::adapt(const codegen::Schedule& schedule) const { return repair(form_of(schedule).stages, schedule); }

std::vector<codegen::Schedule> Space::transfer(const ir::Program& from, const codegen::Schedule& schedule) const {
  if (target_->device == codegen::Device::Gpu) return {};
  if (!schedule.collapsed) return transferred(*apart_.program, apart_.stages, from, schedule);
  const auto other = codegen::collapsed_form(from, schedule);
  if (!other || !collapsed_) return {};
  auto fits = transferred(*collapsed_->program, collapsed_->stages, other->program, other->schedule);
  for (auto& fit : fits) fit.collapsed = true;
  return fits;
}

std::vector<std::pair<codegen::Group, double>> Space::log10_sizes() const {
  std::vector<std::pair<codegen::Group, double>> sizes;
  for (const GroupRules& rules : group_rules(target_->device)) {
    double log_count = 0;
    for (const auto& context : own().stages) log_count += rules.log_count(context);
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
