#include "search/space/moves.h"

#include <algorithm>
#include <numeric>

#include "codegen/schedule/scan.h"
#include "search/space/choices.h"

namespace tile_tune::search {
namespace {

using codegen::Packing;
using codegen::StageSchedule;

std::vector<int> identity_order(size_t count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> random_order(size_t count, Rng& rng) {
  auto order = identity_order(count);
  rng.shuffle(order);
  return order;
}

int64_t loop_extent(const StageContext& context, int loop) {
  return loop < context.outputs() ? context.loops.output[loop] : context.loops.reduction[loop - context.outputs()];
}

void draw_vector(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const auto loops = vector_loops(context);
  stage.vector_loop = -1;
  stage.lanes = 1;
  if (loops.empty()) return;
  stage.vector_loop = rng.pick(loops);
  stage.lanes = rng.pick(lane_choices(context, loop_extent(context, stage.vector_loop)));
}

// Outer tiles of loop p around its register tile.
void draw_outer_tiles(const StageContext& context, StageSchedule& stage, int p, Rng& rng) {
  auto& tiles = stage.tiles[p];
  for (size_t l = tiles.size() - 1; l-- > 0;)
    tiles[l] = tiles[l + 1] * rng.pick(tile_multiples(tiles[l + 1], std::max<int64_t>(context.loops.output[p], 1)));
}

void draw_tiles(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const size_t levels = stage.order.size();
  stage.tiles.assign(context.outputs(), std::vector<int64_t>(levels, 1));
  for (int p = 0; p < context.outputs(); ++p) {
    stage.tiles[p].back() = rng.pick(register_tiles(context, stage, p));
    draw_outer_tiles(context, stage, p, rng);
  }
}

Packing draw_packing(const StageContext& context, const StageSchedule& stage, int operand, Rng& rng) {
  return {operand, rng.pick(packing_depths(context, stage)),
          random_order(context.loops.operands[operand].subscripts.size(), rng)};
}

// Adds or removes one level of outer tiles.
void change_levels(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const bool add = stage.order.size() == 1 || (stage.order.size() < kMaxLevels && rng.chance(0.5));
  if (!add) {
    stage.order.erase(stage.order.begin());
    for (auto& tiles : stage.tiles) tiles.erase(tiles.begin());
    return;
  }
  stage.order.insert(stage.order.begin(), random_order(context.outputs(), rng));
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    tiles.insert(tiles.begin(), tiles.front() * rng.pick(tile_multiples(
                                                    tiles.front(), std::max<int64_t>(context.loops.output[p], 1))));
  }
}

// A neighbour of `value` in `choices` half of the time, else any of them.
template <typename T, typename U>
T step_or_draw(const std::vector<T>& choices, U value, Rng& rng) {
  const auto at = std::find(choices.begin(), choices.end(), static_cast<T>(value));
  if (at == choices.end() || rng.chance(0.5)) return rng.pick(choices);
  const auto i = at - choices.begin();
  if (rng.chance(0.5)) return choices[std::max<std::ptrdiff_t>(i - 1, 0)];
  return choices[std::min<std::ptrdiff_t>(i + 1, static_cast<std::ptrdiff_t>(choices.size()) - 1)];
}

void change_register_tile(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const int p = static_cast<int>(rng.below(context.outputs()));
  auto& tiles = stage.tiles[p];
  const int64_t before = tiles.back();
  tiles.back() = step_or_draw(register_tiles(context, stage, p), before, rng);
  // Outer tiles keep the number of tiles they hold, so that only one decision changes.
  for (size_t l = 0; l + 1 < tiles.size(); ++l) tiles[l] = tiles[l] / before * tiles.back();
}

void change_outer_tile(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const int p = static_cast<int>(rng.below(context.outputs()));
  auto& tiles = stage.tiles[p];
  const size_t l = rng.below(tiles.size() - 1);
  const auto multiples = tile_multiples(tiles[l + 1], std::max<int64_t>(context.loops.output[p], 1));
  tiles[l] = tiles[l + 1] * step_or_draw(multiples, tiles[l] / tiles[l + 1], rng);
}

void change_order(StageSchedule& stage, Rng& rng) {
  auto& order = stage.order[rng.below(stage.order.size())];
  if (order.size() < 2) return;
  std::swap(order[rng.below(order.size())], order[rng.below(order.size())]);
}

void change_vector(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const int before = stage.vector_loop, lanes = stage.lanes;
  draw_vector(context, stage, rng);
  if (before == stage.vector_loop || before < 0 || before >= context.outputs()) return;
  stage.tiles[before].back() =
      std::max<int64_t>(stage.tiles[before].back() / lanes, 1);  // as many rows as there were vectors
}

// A reduction loop in parallel pieces, or none.
void draw_pieces(const StageContext& context, StageSchedule& stage, Rng& rng) {
  const int r = static_cast<int>(rng.below(context.reductions()));
  const auto choices = piece_choices(context.loops.reduction[r]);
  if (stage.parallel_reduction || choices.empty() || !context.loops.direct)
    stage.parallel_reduction.reset();
  else
    stage.parallel_reduction = codegen::ParallelReduction{r, rng.pick(choices)};
}

bool can_scan(const StageContext& context) {
  return codegen::scan_of(context.program->statements[context.statement], context.loops).has_value();
}

// Running totals, or each element for itself, in registers.
void change_scan(const StageContext& context, StageSchedule& stage) {
  stage.scan = !stage.scan;
  if (stage.scan) return;
  stage.reduction_block = codegen::loops_of(*context.program, context.program->statements[context.statement]).reduction;
}

void change_reduction(const StageContext& context, StageSchedule& stage, Rng& rng) {
  if (can_scan(context) && rng.chance(0.3)) return change_scan(context, stage);
  const int r = static_cast<int>(rng.below(context.reductions()));
  switch (rng.below(5)) {
    case 0:
      stage.reduction_block[r] = step_or_draw(block_choices(context.loops.reduction[r]), stage.reduction_block[r], rng);
      break;
    case 1:
      stage.reduction_unroll[r] =
          static_cast<int>(step_or_draw(unroll_choices(stage.reduction_block[r]), stage.reduction_unroll[r], rng));
      break;
    case 2:
      stage.dot_product = !stage.dot_product;
      break;
    case 3:
      draw_pieces(context, stage, rng);
      break;
    default:
      std::swap(stage.reduction_order[r], stage.reduction_order[rng.below(context.reductions())]);
      break;
  }
}

void change_packing(const StageContext& context, StageSchedule& stage, Rng& rng) {
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
}

// Asks for an operand ahead of its use, or no longer.
void change_prefetch(const StageContext& context, StageSchedule& stage, Rng& rng) {
  if (context.loops.operands.empty()) return;
  const int operand = static_cast<int>(rng.below(context.loops.operands.size()));
  const auto at = std::find_if(stage.prefetches.begin(), stage.prefetches.end(),
                               [&](const auto& one) { return one.operand == operand; });
  const bool had = at != stage.prefetches.end();
  if (had) stage.prefetches.erase(at);
  const auto choices = prefetch_choices(context, stage, operand);
  if (!choices.empty() && (!had || rng.chance(0.5))) stage.prefetches.push_back(rng.pick(choices));
}

}  // namespace

StageSchedule sample_stage(const StageContext& context, Rng& rng) {
  StageSchedule stage;
  const size_t levels = 1 + rng.below(kMaxLevels);
  for (size_t l = 0; l < levels; ++l) stage.order.push_back(random_order(context.outputs(), rng));
  draw_vector(context, stage, rng);
  draw_tiles(context, stage, rng);
  stage.parallel = static_cast<int>(rng.below(context.outputs() + 1));
  stage.reduction_order = random_order(context.reductions(), rng);
  for (int r = 0; r < context.reductions(); ++r) {
    // Most reductions run through in registers; blocks are the exception that long ones want.
    const auto blocks = block_choices(context.loops.reduction[r]);
    stage.reduction_block.push_back(rng.chance(0.7) ? context.loops.reduction[r] : rng.pick(blocks));
    stage.reduction_unroll.push_back(
        static_cast<int>(rng.pick(unroll_choices(std::max<int64_t>(stage.reduction_block[r], 1)))));
  }
  // Few programs have so few outputs that this pays.
  if (context.reductions() > 0 && rng.chance(0.15)) draw_pieces(context, stage, rng);
  for (const int operand : packable_operands(context))
    if (rng.chance(0.4)) stage.packings.push_back(draw_packing(context, stage, operand, rng));
  for (const auto& operand : context.loops.operands)
    if (const auto choices = prefetch_choices(context, stage, operand.number); !choices.empty() && rng.chance(0.2))
      stage.prefetches.push_back(rng.pick(choices));
  stage.dot_product = rng.chance(0.5);  // where there are none, repair() takes it back
  if (can_scan(context)) stage.scan = rng.chance(0.5);
  return stage;
}

StageSchedule mutate_stage(const StageContext& context, StageSchedule stage, Rng& rng) {
  // Weights: tile sizes decide most of the time of a kernel (TVM's mutator gives them 0.90, research/autotuners.md
  // 1.1); here packing and loop order, which it does not search, share with them.
  const double draw = rng.unit();
  const bool has_outputs = context.outputs() > 0, has_reductions = context.reductions() > 0;
  if (draw < 0.30 && has_outputs)
    change_register_tile(context, stage, rng);
  else if (draw < 0.50 && has_outputs && stage.order.size() > 1)
    change_outer_tile(context, stage, rng);
  else if (draw < 0.60 && has_outputs)
    change_order(stage, rng);
  else if (draw < 0.67 && has_outputs)
    stage.parallel = static_cast<int>(rng.below(context.outputs() + 1));
  else if (draw < 0.74)
    change_vector(context, stage, rng);
  else if (draw < 0.84 && has_reductions)
    change_reduction(context, stage, rng);
  else if (draw < 0.92 && !packable_operands(context).empty())
    change_packing(context, stage, rng);
  else if (draw < 0.96)
    change_prefetch(context, stage, rng);
  else if (has_outputs)
    change_levels(context, stage, rng);
  return stage;
}

StageSchedule cross_stages(const StageContext&, const StageSchedule& a, const StageSchedule& b, Rng& rng) {
  // A stage that lies in another's nest has nothing else to hand on.
  const auto has_nest = [](const StageSchedule& stage) { return !stage.inlined && stage.epilogue_of < 0; };
  if (!has_nest(a) || !has_nest(b)) return rng.chance(0.5) ? a : b;
  StageSchedule child = rng.chance(0.5) ? a : b;
  const StageSchedule& other = child == a ? b : a;
  if (rng.chance(0.5) && child.order.size() == other.order.size()) {
    // Same number of levels: tiles and loop orders may come from different parents, loop by loop.
    for (size_t p = 0; p < child.tiles.size(); ++p)
      if (rng.chance(0.5)) child.tiles[p] = other.tiles[p];
    if (rng.chance(0.5)) child.order = other.order;
  }
  if (rng.chance(0.5)) child.compute_at = other.compute_at;
  if (rng.chance(0.5)) child.parallel = other.parallel;
  if (rng.chance(0.5)) {
    child.vector_loop = other.vector_loop;
    child.lanes = other.lanes;
  }
  if (rng.chance(0.5)) {
    child.reduction_order = other.reduction_order;
    child.reduction_block = other.reduction_block;
    child.reduction_unroll = other.reduction_unroll;
    child.dot_product = other.dot_product;
    child.scan = other.scan;
    child.parallel_reduction = other.parallel_reduction;
  }
  if (rng.chance(0.5)) child.packings = other.packings;
  if (rng.chance(0.5)) child.prefetches = other.prefetches;
  return child;
}

}  // namespace tile_tune::search
