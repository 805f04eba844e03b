// Which operands are copied into contiguous memory, where in the nest, and in what order.
#include <cmath>

#include "search/space/choices.h"
#include "search/space/group_rules.h"
#include "search/space/draws.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Packing;

double log_copies(const StageContext& context) {
  NestSchedule plain;
  plain.order.resize(1);
  double log_count = 0;
  for (const int operand : packable_operands(context)) {
    const double orders = std::tgamma(context.loops.operands[operand].subscripts.size() + 1.0);
    log_count += std::log(1 + orders * static_cast<double>(packing_depths(context, plain).size()));
  }
  return log_count;
}

Packing draw_packing(const StageContext& context, const NestSchedule& stage, int operand, Rng& rng) {
  return {operand, rng.pick(packing_depths(context, stage)),
          random_order(context.loops.operands[operand].subscripts.size(), rng)};
}

void draw_copies(const StageContext& context, NestSchedule& stage, Rng& rng) {
  if (stage.scan) return;
  for (const int operand : packable_operands(context))
    if (rng.chance(0.4)) stage.packings.push_back(draw_packing(context, stage, operand, rng));
}

Changed change_copy(const StageContext& context, NestSchedule stage, Rng& rng) {
  if (packable_operands(context).empty()) return refused("it has no operand that can be copied");
  if (stage.scan) return refused("running totals read no copies");
  const int operand = rng.pick(packable_operands(context));
  const auto at = std::find_if(stage.packings.begin(), stage.packings.end(),
                               [&](const Packing& p) { return p.operand == operand; });
  if (at == stage.packings.end()) {
    stage.packings.push_back(draw_packing(context, stage, operand, rng));
  } else if (rng.chance(0.4)) {
    stage.packings.erase(at);
  } else {
    at->depth = step_or_draw(packing_depths(context, stage), at->depth, rng);
    if (rng.chance(0.3)) at->order = random_order(at->order.size(), rng);
  }
  return stage;
}

}  // namespace

GroupRules copy_rules() {
  return {
      .group = codegen::Group::Copies, .log_count = log_copies, .draw = draw_copies, .moves = {{0.08, change_copy}}};
}

}  // namespace tile_tune::search
