#include "search/space/repair.h"

#include <algorithm>

#include "codegen/schedule/check.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/matrix_tiles.h"
#include "codegen/schedule/partial_sums.h"
#include "codegen/schedule/masked_vector.h"
#include "codegen/schedule/sum_order.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/scan.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/group_rules.h"
#include "search/space/gpu_repair.h"
#include "search/space/matrix_tile.h"
#include "search/space/register_tile.h"
#include "search/space/term_size.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;
using codegen::Loops;
using codegen::NestSchedule;

bool may_be_masked(const StageContext& context, NestSchedule stage, int lanes) {
  const int p = stage.cpu().vector_loop;
  if (masked_lanes(context, p) != lanes) return false;
  stage.cpu().lanes = lanes;
  stage.tiles[p].assign(stage.tiles[p].size(), lanes);
  return codegen::masked_vector_fault(*context.program, context.statement, context.loops, stage).empty();
}

void repair_vector(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const int outputs = context.outputs();
  if (stage.cpu().vector_loop >= context.loops.loop_count())
    correct(stage.cpu().vector_loop, -1, "the loop of its vectors is not there", notes);
  if (stage.cpu().vector_loop >= 0) {
    const int64_t extent = stage.cpu().vector_loop < outputs
                               ? context.loops.output[stage.cpu().vector_loop]
                               : context.loops.reduction[stage.cpu().vector_loop - outputs];
    int lanes = stage.cpu().lanes;
    while (lanes >= 2 * extent && lanes > 1) lanes /= 2;
    if (lanes > extent && !may_be_masked(context, stage, lanes)) lanes /= 2;
    correct(stage.cpu().lanes, lanes, kTooLongVectors, notes);
  }
  if (stage.cpu().vector_loop < 0 || stage.cpu().lanes <= 1) {
    stage.cpu().vector_loop = -1;
    stage.cpu().lanes = 1;
  }
}

void repair_tiles(const StageContext& context, NestSchedule& stage, Notes& notes) {
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    const int64_t extent = std::max<int64_t>(context.loops.output[p], 1);
    int64_t inner = p == stage.cpu().vector_loop ? stage.cpu().lanes : 1;
    for (size_t l = tiles.size(); l-- > 0;) {
      correct(tiles[l], std::max<int64_t>(std::min(tiles[l], extent) / inner, 1) * inner,
              "its tiles did not fit their loop, its vectors or each other", notes);
      inner = tiles[l];
    }
  }
}

void repair_reduction(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& statement = context.program->statements[context.statement];
  const auto dot = stage.dot_product ? codegen::dot_product(statement, context.loops, stage) : std::nullopt;
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[r], 1);
    auto& block = stage.reduction_block[r];
    block = std::clamp<int64_t>(block, 1, extent);  // what was not cut stays so, whatever its extent has become
    if (stage.cpu().vector_loop >= context.outputs())
      correct(block, extent, "it cut a reduction in vector lanes into blocks", notes);
    else if (stage.dot_product)
      correct(block, largest_divisor_up_to(extent, block), "its blocks did not divide the reduction", notes);
    if (dot && !dot->in_lanes && dot->loop == r && block == extent) continue;  // repair_dot_product()
    const int unroll = stage.reduction_unroll[r];
    const bool in_lanes = stage.cpu().vector_loop == context.outputs() + r,
               is_free = in_lanes || codegen::may_leave_some(statement, context.loops, stage, r);
    correct(stage.reduction_unroll[r],
            static_cast<int>(is_free ? std::clamp<int64_t>(unroll, 1, in_lanes ? extent / stage.cpu().lanes : extent)
                                     : largest_divisor_up_to(codegen::most_unrolled(extent, block), unroll)),
            "its unrolling did not divide the reduction", notes);
  }
}

/// Terms in one pass through the innermost unrolled body.
int64_t unrolled_terms(const StageContext& context, const NestSchedule& stage) {
  int64_t terms = 1;
  for (const auto& tile : stage.tiles) terms *= tile.back();
  for (const int factor : stage.reduction_unroll) terms *= factor;
  terms *= std::max(stage.partial_sums, 1);
  const int loop = stage.cpu().vector_loop;
  return loop >= 0 && loop < context.outputs() ? terms / stage.cpu().lanes : terms;
}

/// Elements that the innermost unrolled body reads one by one, as neither they nor a copy of them are neighbours along
/// the vectors.
int64_t scattered_elements(const StageContext& context, const NestSchedule& stage) {
  const int loop = stage.cpu().vector_loop, outputs = context.outputs();
  int64_t elements = 0;
  for (const auto& operand : context.loops.operands) {
    if (loop < 0 || codegen::copy_read_by(context.loops, stage, operand.number) ||
        !context.loops.is_walked(operand, loop))
      continue;
    if (operand.affine && context.distance(operand, loop) <= 1) continue;
    int64_t here = 1;
    for (int l = 0; l < context.loops.loop_count(); ++l) {
      if (!context.loops.is_walked(operand, l)) continue;
      here *= l < outputs ? stage.tiles[l].back() : stage.reduction_unroll[l - outputs];
      if (l >= outputs && l == loop) here *= stage.cpu().lanes;
      if (stage.partial_sums > 0 && l == outputs + codegen::loop_of_turns(context.loops, stage))
        here *= stage.partial_sums;
    }
    elements += here;
  }
  return elements;
}

/// Elements that the innermost unrolled body stores one by one, each if the loop of its vector goes that far. Results
/// of loops that are not the target's dimensions are not collected and transposed.
int64_t guarded_stores(const StageContext& context, const NestSchedule& stage) {
  const int loop = stage.cpu().vector_loop;
  if (loop < 0 || loop >= context.outputs() || context.loops.direct) return 0;
  const auto& statement = context.program->statements[context.statement];
  const bool are_neighbours = std::abs(codegen::output_stride(*context.program, statement, context.loops, loop)) <= 1;
  if (are_neighbours || context.loops.output[loop] % stage.tiles[loop].back() == 0) return 0;
  int64_t elements = 1;
  for (const auto& tile : stage.tiles) elements *= tile.back();
  return elements;
}

// Halves partial sums, then register tiles and unrolls, the largest first, until the body is small enough to compile
// quickly.
void limit_unrolling(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const int64_t functions = operations_of_functions(*context.program->statements[context.statement].value);
  const auto is_too_long = [&] {
    return codegen::unrolled_operations(context.loops, stage) + functions * unrolled_terms(context, stage) +
               scattered_elements(context, stage) / costs::kScatteredPerOperation +
               guarded_stores(context, stage) * costs::kOperationsPerGuardedStore >
           costs::kMostUnrolled;
  };
  Notes follow;  // from what is said here
  if (is_too_long()) notes.push_back("it unrolled more operations than compile quickly");
  while (is_too_long()) {
    if (stage.partial_sums > 0) {
      stage.partial_sums = stage.partial_sums < 4 ? 0 : stage.partial_sums / 2;
      continue;
    }
    int64_t largest = 1;
    int64_t* tile = nullptr;
    for (int p = 0; p < context.outputs(); ++p) {
      const int64_t count = stage.tiles[p].back() / (p == stage.cpu().vector_loop ? stage.cpu().lanes : 1);
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
    else if (tile)
      *tile /= 2;
    else
      return;
    repair_tiles(context, stage, follow);
    repair_reduction(context, stage, follow);
  }
}

bool has_home(const StageContext& context, const NestSchedule& stage) {
  return codegen::has_home(*context.program, context.program->statements[context.statement], context.loops, stage);
}

// Takes out levels none of whose loops runs twice. Where results have a home the first level stays: the home is as
// large as that level's tiles.
void drop_idle_levels(const StageContext& context, NestSchedule& stage) {
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
void canonical_order(const StageContext& context, NestSchedule& stage) {
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
    if (l == 0) stage.cpu().parallel = running_among(std::min(stage.cpu().parallel, context.outputs()));
    const auto still = std::stable_partition(order.begin(), order.end(), [&](int p) { return !runs_once(p); });
    std::sort(still, order.end());
  }
  stage.reduction_order = codegen::with_idle_loops_first(context.loops, std::move(stage.reduction_order));
}

void repair_packings(const StageContext& context, NestSchedule& stage, Notes& notes) {
  std::vector<codegen::Packing> kept;
  for (auto& packing : stage.packings) {
    packing.operand = context.loops.first_like(packing.operand);
    const auto& operand = context.loops.operands[packing.operand];
    const bool again =
        std::any_of(kept.begin(), kept.end(), [&](const auto& k) { return k.operand == packing.operand; });
    if (again || !operand.affine || operand.subscripts.empty()) {
      notes.push_back("it copied an operand twice, or one that cannot be copied");
      continue;
    }
    if (packing.depth > 0)
      correct(packing.depth, std::max(packing.depth, stage.cpu().parallel),
              "it copied an operand between its parallel loops", notes);
    if (codegen::is_packed_beforehand(*context.program, operand)) packing.depth = 0;  // wherever the copy stands
    kept.push_back(packing);
  }
  std::sort(kept.begin(), kept.end());
  stage.packings = std::move(kept);
}

constexpr std::string_view kAnotherOrder = "it summed up in another order than deterministic kernels do";
constexpr std::string_view kNoPartialSums = "its elements had no several sums in registers";
constexpr std::string_view kNoDotProducts = "its nest has no place for dot products";

// Dot products where they were asked for and are to be had, of bytes as the CPU has them; in lanes they are of pairs in
// any case.
void repair_dot_width(const StageContext& context, NestSchedule& stage, Notes& notes) {
  const auto& statement = context.program->statements[context.statement];
  const bool has_dots = usual_dot_product(context) != DotForm::None;
  correct(stage.dot_product, stage.dot_product && has_dots && !stage.parallel_reduction, kNoDotProducts, notes);
  const bool is_of_bytes = stage.dot_product && codegen::dot_product_type(statement) == DType::I8;
  if (stage.dot_pairs || !context.target->has_matrix_tiles() || stage.cpu().lanes != codegen::kTileColumns)
    drop_matrix_tiles(stage, notes);
  correct(stage.dot_pairs,
          is_of_bytes && stage.cpu().vector_loop < context.outputs() &&
              (stage.dot_pairs || (usual_dot_product(context) == DotForm::Pairs && !stage.dot_tiles)),
          "its dot products are of other widths", notes);
  correct(stage.dot_product, stage.dot_product && codegen::dot_product(statement, context.loops, stage).has_value(),
          kNoDotProducts, notes);
  stage.dot_pairs &= stage.dot_product;
  stage.dot_tiles &= stage.dot_product;
}

// Their width decides how the innermost reduction is unrolled and how it may be blocked, and the vector operand is
// packed, once a panel of the vector loop if nobody said where. In lanes there must be enough of them.
void repair_dot_product(const StageContext& context, NestSchedule& stage) {
  if (!stage.dot_product) return;
  const auto dot = codegen::dot_product(context.program->statements[context.statement], context.loops, stage);
  if (dot->in_lanes) {
    const int64_t most = context.loops.reduction[dot->loop] / (int64_t{stage.cpu().lanes} * dot->width);
    stage.reduction_unroll[dot->loop] = static_cast<int>(std::min<int64_t>(stage.reduction_unroll[dot->loop], most));
    return;
  }
  auto& block = stage.reduction_block[dot->loop];
  while (block < context.loops.reduction[dot->loop] &&
         (block % dot->width != 0 || context.loops.reduction[dot->loop] % block != 0))
    ++block;
  stage.reduction_unroll[dot->loop] = dot->width;
  const bool packed = std::any_of(stage.packings.begin(), stage.packings.end(),
                                  [&](const codegen::Packing& packing) { return packing.operand == dot->column; });
  if (!packed) stage.packings.push_back(panel_packing(context, stage, dot->column));
}

// Rather none than a loop that is unrolled less.
void repair_partial_sums(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (stage.partial_sums == 0) return;
  const bool fits =
      !keeps_order(context) && codegen::partial_sums_fault(*context.program, context.loops, stage).empty();
  correct(stage.partial_sums, fits ? stage.partial_sums : 0, kNoPartialSums, notes);
}

}  // namespace

int64_t trip_count(const Loops& loops, const NestSchedule& stage, int loop, size_t level) {
  const int64_t around = level == 0 ? std::max<int64_t>(loops.output[loop], 1) : stage.tiles[loop][level - 1];
  const int64_t tile = stage.tiles[loop][level];
  return (around + tile - 1) / tile;
}

void repair_pieces(const StageContext& context, NestSchedule& stage, Notes& notes) {
  auto& cut = stage.parallel_reduction;
  if (!cut) return;
  const bool possible = context.loops.direct && !stage.compute_at && cut->loop >= 0 && cut->loop < context.reductions();
  if (possible)
    correct(cut->pieces,
            most_pieces_up_to(context, cut->loop,
                              std::min(cut->pieces, codegen::most_pieces(context.loops, context.type, stage))),
            "its parallel pieces left too much of the reduction over", notes);
  else
    notes.push_back("it ran a reduction in parallel where that is impossible");
  if (!possible || cut->pieces < 2) cut.reset();
}

bool keeps_order(const StageContext& context) {
  return context.target->deterministic && codegen::depends_on_order(context.program->statements[context.statement]);
}

void repair_order(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (!context.target->deterministic) return;
  if (stage.is_gpu()) {
    correct(stage, codegen::in_order(context.program->statements[context.statement], context.loops, stage),
            kAnotherOrder, notes);
    return;
  }
  const int lanes = stage.cpu().lanes, contiguous = context.contiguous_loop();
  const bool in_lanes = stage.cpu().vector_loop >= context.outputs();
  correct(stage, codegen::in_order(context.program->statements[context.statement], context.loops, stage), kAnotherOrder,
          notes);
  if (!in_lanes || stage.cpu().vector_loop >= 0 || contiguous < 0) return;
  // Sums of several elements side by side in place of partial sums of one.
  stage.cpu().vector_loop = contiguous;
  stage.cpu().lanes = lanes;
}

void repair_scan(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (!stage.scan) return;
  const auto& statement = context.program->statements[context.statement];
  correct(stage.scan, !stage.compute_at && codegen::scan_of(statement, context.loops).has_value(),
          "it has no running totals, or they need a nest of their own", notes);
  if (!stage.scan) {
    stage.reduction_block = context.loops.reduction;
    return;
  }
  const bool had_more = stage.parallel_reduction || stage.dot_product || !stage.packings.empty() ||
                        stage.cpu().vector_loop >= context.outputs();
  if (had_more) notes.push_back("running totals have no reduction in vectors or in pieces, and no copies");
  stage.parallel_reduction.reset();
  set_dot_product(stage, DotForm::None);
  stage.partial_sums = 0;
  stage.packings.clear();
  stage.reduction_unroll.assign(context.loops.reduction.size(), 1);
  if (stage.cpu().vector_loop >= context.outputs()) stage.cpu().vector_loop = -1;
}

NestSchedule repair(const StageContext& given, NestSchedule stage, Notes& notes) {
  if (given.target->device == codegen::Device::Gpu) return repair_on_gpu(given, std::move(stage), notes);
  if (stage.is_gpu()) {
    notes.push_back("its loops were mapped to a GPU");
    stage.mapping = codegen::CpuMapping{};
  }
  if (stage.compute_at)
    correct(stage.cpu().parallel, 0, "it ran in parallel inside the loops of another statement", notes);
  StageContext context = given;
  repair_order(context, stage, notes);
  repair_scan(context, stage, notes);
  if (stage.scan) context.loops = codegen::one_piece(std::move(context.loops), stage);
  repair_vector(context, stage, notes);
  repair_tiles(context, stage, notes);
  repair_dot_width(context, stage, notes);
  repair_reduction(context, stage, notes);
  repair_dot_product(context, stage);
  repair_matrix_tiles(context, stage, notes);
  repair_partial_sums(context, stage, notes);
  limit_unrolling(context, stage, notes);
  drop_idle_levels(context, stage);
  canonical_order(context, stage);
  repair_packings(context, stage, notes);
  // Another loop may have become the innermost reduction, or have been unrolled less.
  const auto has_dots = [&] {
    return codegen::check_dot_product(*context.program, context.loops, context.statement, stage).has_value();
  };
  if (!has_dots()) drop_matrix_tiles(stage, notes);
  if (!has_dots()) correct(stage, codegen::without_dot_product(stage, context.outputs()), kNoDotProducts, notes);
  repair_partial_sums(context, stage, notes);
  for (const GroupRules& rules : group_rules())
    if (rules.repair) rules.repair(context, stage, notes);
  return stage;
}

NestSchedule repair(const StageContext& context, NestSchedule stage) {
  Notes notes;
  return repair(context, std::move(stage), notes);
}

}  // namespace tile_tune::search
