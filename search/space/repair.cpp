#include "search/space/repair.h"

#include <algorithm>

#include "codegen/schedule/check.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/order.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/prefetch.h"
#include "codegen/schedule/scan.h"
#include "search/space/choices.h"

namespace tile_tune::search {
namespace {

using codegen::Loops;
using codegen::StageSchedule;

int64_t largest_divisor_up_to(int64_t number, int64_t limit) {
  for (int64_t d = std::min(number, std::max<int64_t>(limit, 1)); d > 1; --d)
    if (number % d == 0) return d;
  return 1;
}

void repair_vector(const StageContext& context, StageSchedule& stage) {
  const int outputs = context.outputs();
  if (stage.vector_loop >= context.loops.loop_count()) stage.vector_loop = -1;
  if (stage.vector_loop >= 0) {
    const int64_t extent = stage.vector_loop < outputs ? context.loops.output[stage.vector_loop]
                                                       : context.loops.reduction[stage.vector_loop - outputs];
    while (stage.lanes > extent) stage.lanes /= 2;
  }
  if (stage.vector_loop < 0 || stage.lanes <= 1) {
    stage.vector_loop = -1;
    stage.lanes = 1;
  }
}

void repair_tiles(const StageContext& context, StageSchedule& stage) {
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    const int64_t extent = std::max<int64_t>(context.loops.output[p], 1);
    const int64_t step = p == stage.vector_loop ? stage.lanes : 1;
    int64_t inner = std::max<int64_t>(std::min(tiles.back(), extent) / step, 1) * step;
    tiles.back() = inner;
    for (size_t l = tiles.size() - 1; l-- > 0;) {
      tiles[l] = std::max<int64_t>(std::min(tiles[l], extent) / inner, 1) * inner;
      inner = tiles[l];
    }
  }
}

void repair_reduction(const StageContext& context, StageSchedule& stage) {
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[r], 1);
    const bool in_lanes = stage.vector_loop >= context.outputs();
    auto& block = stage.reduction_block[r];
    block = in_lanes ? extent : largest_divisor_up_to(extent, block);
    auto& unroll = stage.reduction_unroll[r];
    if (stage.vector_loop == context.outputs() + r)
      unroll = static_cast<int>(std::clamp<int64_t>(unroll, 1, extent / stage.lanes));
    else
      unroll = static_cast<int>(largest_divisor_up_to(block, unroll));
  }
}

// Halves register tiles and unrolls, the largest first, until the body is small enough to compile quickly.
void limit_unrolling(const StageContext& context, StageSchedule& stage) {
  while (codegen::unrolled_operations(context.loops, stage) > codegen::kMaxUnrolled) {
    int64_t largest = 1;
    int64_t* tile = nullptr;
    for (int p = 0; p < context.outputs(); ++p) {
      const int64_t count = stage.tiles[p].back() / (p == stage.vector_loop ? stage.lanes : 1);
      if (count > largest) {
        largest = count;
        tile = &stage.tiles[p].back();
      }
    }
    int* unroll = nullptr;
    for (auto& factor : stage.reduction_unroll) {
      if (factor > largest) {
        largest = factor;
        unroll = &factor;
      }
    }
    if (unroll)
      *unroll /= 2;
    else
      *tile /= 2;
    repair_tiles(context, stage);
    repair_reduction(context, stage);
  }
}

bool has_home(const StageContext& context, const StageSchedule& stage) {
  return codegen::has_home(*context.program, context.program->statements[context.statement], context.loops, stage);
}

// Takes out levels none of whose loops runs twice. Where results have a home the first level stays: the home is as
// large as that level's tiles.
void drop_idle_levels(const StageContext& context, StageSchedule& stage) {
  const int outputs = context.outputs();
  for (size_t l = stage.order.size(); l-- > 0 && stage.order.size() > 1;) {
    if (l == 0 && has_home(context, stage)) continue;
    bool idle = true;
    for (int p = 0; p < outputs; ++p) idle &= trip_count(context.loops, stage, p, l) <= 1;
    if (!idle) continue;
    stage.order.erase(stage.order.begin() + static_cast<std::ptrdiff_t>(l));
    // Level l walks tiles of size tiles[l] in one step: where it is not the outermost, that is tiles[l - 1] as well.
    for (auto& tiles : stage.tiles) tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(l));
    const int first = static_cast<int>(l) * outputs;
    for (auto& packing : stage.packings)
      if (packing.depth > first) packing.depth = std::max(packing.depth - outputs, first);
  }
}

// Loops that run once stand last in their level. A packed copy stays inside the loops it was in, of those that run more
// than once: it would otherwise be made anew in loops that slip in front of it.
void canonical_order(const StageContext& context, StageSchedule& stage) {
  const int depths = context.outputs() * static_cast<int>(stage.order.size());
  for (auto& packing : stage.packings) packing.depth = std::min(packing.depth, depths);
  // From the innermost level, since a packing may move out into the one around.
  for (size_t l = stage.order.size(); l-- > 0;) {
    auto runs_once = [&](int p) { return trip_count(context.loops, stage, p, l) <= 1; };
    auto& order = stage.order[l];
    auto running_among = [&](int loops) {
      return static_cast<int>(
          std::count_if(order.begin(), order.begin() + loops, [&](int p) { return !runs_once(p); }));
    };
    // What is packed inside the first loops stays inside those of them that run more than once. (It would else be
    // packed anew in every iteration of a loop that moves ahead of one that runs once.)
    const int first = static_cast<int>(l) * context.outputs(), last = first + context.outputs();
    // Past the outermost level of a blocked reduction begin its blocks.
    const bool to_last = l > 0 || !codegen::is_blocked(context.loops, stage);
    for (auto& packing : stage.packings)
      if (packing.depth > first && (packing.depth < last || (packing.depth == last && to_last)))
        packing.depth = first + running_among(packing.depth - first);
    if (l == 0) stage.parallel = running_among(std::min(stage.parallel, context.outputs()));
    const auto still = std::stable_partition(order.begin(), order.end(), [&](int p) { return !runs_once(p); });
    std::sort(still, order.end());
  }
  auto& order = stage.reduction_order;
  const auto still =
      std::stable_partition(order.begin(), order.end(), [&](int r) { return context.loops.reduction[r] > 1; });
  std::sort(still, order.end());
}

void repair_packings(const StageContext& context, StageSchedule& stage) {
  std::vector<codegen::Packing> kept;
  for (auto& packing : stage.packings) {
    const auto& operand = context.loops.operands[packing.operand];
    const bool again =
        std::any_of(kept.begin(), kept.end(), [&](const auto& k) { return k.operand == packing.operand; });
    if (again || !operand.affine || operand.subscripts.empty()) continue;
    if (packing.depth > 0) packing.depth = std::max(packing.depth, stage.parallel);
    if (codegen::is_packed_beforehand(*context.program, operand)) packing.depth = 0;  // wherever the copy stands
    kept.push_back(packing);
  }
  std::sort(kept.begin(), kept.end());
  stage.packings = std::move(kept);
}

// Dot products where they were asked for and are to be had: their width decides how the innermost reduction is unrolled
// and how it may be blocked, and the vector operand is packed, once a panel of the vector loop if nobody said where.
void repair_dot_product(const StageContext& context, StageSchedule& stage) {
  if (!stage.dot_product) return;
  const auto& statement = context.program->statements[context.statement];
  const auto dot = codegen::dot_product(*context.program, statement, context.loops, stage);
  stage.dot_product = dot.has_value() && !stage.parallel_reduction && context.target->has_dot_products();
  if (!stage.dot_product) return;
  auto& block = stage.reduction_block[dot->loop];
  while (block < context.loops.reduction[dot->loop] &&
         (block % dot->width != 0 || context.loops.reduction[dot->loop] % block != 0))
    ++block;
  stage.reduction_unroll[dot->loop] = dot->width;
  const bool packed = std::any_of(stage.packings.begin(), stage.packings.end(),
                                  [&](const codegen::Packing& packing) { return packing.operand == dot->column; });
  if (!packed) stage.packings.push_back(panel_packing(context, stage, dot->column));
}

// Those that are possible, one of an operand.
void repair_prefetches(const StageContext& context, StageSchedule& stage) {
  std::vector<codegen::Prefetch> kept;
  for (const auto& one : stage.prefetches)
    if (codegen::bytes_ahead(*context.program, context.loops, stage, one) &&
        std::none_of(kept.begin(), kept.end(), [&](const auto& other) { return other.operand == one.operand; }))
      kept.push_back(one);
  std::sort(kept.begin(), kept.end());
  stage.prefetches = std::move(kept);
}

}  // namespace

int64_t trip_count(const Loops& loops, const StageSchedule& stage, int loop, size_t level) {
  const int64_t around = level == 0 ? std::max<int64_t>(loops.output[loop], 1) : stage.tiles[loop][level - 1];
  const int64_t tile = stage.tiles[loop][level];
  return (around + tile - 1) / tile;
}

void repair_pieces(const StageContext& context, StageSchedule& stage) {
  auto& cut = stage.parallel_reduction;
  if (!cut) return;
  const bool possible = context.loops.direct && !stage.compute_at && cut->loop >= 0 && cut->loop < context.reductions();
  if (possible)
    cut->pieces = static_cast<int>(
        largest_divisor_up_to(context.loops.reduction[cut->loop], std::min(cut->pieces, codegen::kMostPieces)));
  if (!possible || cut->pieces < 2) cut.reset();
}

bool keeps_order(const StageContext& context) {
  return context.target->is_deterministic() &&
         codegen::depends_on_order(context.program->statements[context.statement]);
}

void repair_order(const StageContext& context, StageSchedule& stage) {
  if (!context.target->is_deterministic()) return;
  const int lanes = stage.lanes, contiguous = context.contiguous_loop();
  const bool in_lanes = stage.vector_loop >= context.outputs();
  stage = codegen::in_order(context.program->statements[context.statement], context.loops, std::move(stage));
  if (!in_lanes || stage.vector_loop >= 0 || contiguous < 0) return;
  // Sums of several elements side by side in place of partial sums of one.
  stage.vector_loop = contiguous;
  stage.lanes = lanes;
}

void repair_scan(const StageContext& context, StageSchedule& stage) {
  if (!stage.scan) return;
  const auto& statement = context.program->statements[context.statement];
  stage.scan = !stage.compute_at && codegen::scan_of(statement, context.loops);
  if (stage.scan) {
    stage.parallel_reduction.reset();
    stage.dot_product = false;
    stage.packings.clear();
    if (stage.vector_loop >= context.outputs()) stage.vector_loop = -1;
  } else {
    stage.reduction_block = context.loops.reduction;
  }
}

StageSchedule repair(const StageContext& given, StageSchedule stage) {
  stage.inlined = false;
  stage.epilogue_of = -1;
  if (stage.compute_at) stage.parallel = 0;
  StageContext context = given;
  repair_order(context, stage);
  repair_scan(context, stage);
  if (stage.scan) context.loops = codegen::one_piece(std::move(context.loops), stage);
  repair_vector(context, stage);
  repair_tiles(context, stage);
  repair_reduction(context, stage);
  repair_dot_product(context, stage);
  limit_unrolling(context, stage);
  drop_idle_levels(context, stage);
  canonical_order(context, stage);
  repair_packings(context, stage);
  // Another loop may have become the innermost reduction, or have been unrolled less.
  if (!codegen::check_dot_product(*context.program, context.loops, context.statement, stage)) stage.dot_product = false;
  repair_prefetches(context, stage);
  return stage;
}

}  // namespace tile_tune::search
