#include "search/space/moves.h"

#include "search/space/group_rules.h"

namespace tile_tune::search {

using codegen::Group;
using codegen::NestSchedule;
using codegen::StageSchedule;

namespace {

void take(Group group, const NestSchedule& from, NestSchedule& to) {
  codegen::for_each_decision_of(to, [&](const auto& decision) {
    if (decision.group == group && decision.applies(from)) decision.in(to) = decision.in(from);
  });
}

// Of two stages with the same number of levels: tiles and loop orders may come from different parents, loop by loop.
void cross_tiles(NestSchedule& child, const NestSchedule& other, Rng& rng) {
  if (!rng.chance(0.5) || child.order.size() != other.order.size()) return;
  for (size_t p = 0; p < child.tiles.size(); ++p)
    if (rng.chance(0.5)) child.tiles[p] = other.tiles[p];
  if (rng.chance(0.5)) child.order = other.order;
}

}  // namespace

NestSchedule sample_stage(const StageContext& context, Rng& rng) {
  NestSchedule stage;
  for (const GroupRules& rules : group_rules(context.target->device))
    if (rules.draw) rules.draw(context, stage, rng);
  return stage;
}

Changed mutate_stage(const StageContext& context, const NestSchedule& stage, Rng& rng) {
  double all = 0;
  for (const GroupRules& rules : group_rules(context.target->device))
    for (const Move& move : rules.moves) all += move.share;
  double draw = all * rng.unit();
  const Move* chosen = nullptr;
  for (const GroupRules& rules : group_rules(context.target->device))
    for (const Move& move : rules.moves) {
      if (draw >= 0) chosen = &move;
      draw -= move.share;
    }
  return chosen->make(context, stage, rng);
}

StageSchedule cross_stages(const StageSchedule& a, const StageSchedule& b, Rng& rng) {
  // A stage that lies in another's nest has nothing else to hand on.
  if (!a.find_nest() || !b.find_nest()) return rng.chance(0.5) ? a : b;
  NestSchedule child = (rng.chance(0.5) ? a : b).nest();
  const NestSchedule& other = child == a.nest() ? b.nest() : a.nest();
  cross_tiles(child, other, rng);
  const auto device = child.is_gpu() ? codegen::Device::Gpu : codegen::Device::Cpu;
  for (const GroupRules& rules : group_rules(device))
    if (rules.group != Group::Tiles && rng.chance(0.5)) take(rules.group, other, child);
  return child;
}

}  // namespace tile_tune::search
