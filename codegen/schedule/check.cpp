#include "codegen/schedule/check.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "codegen/schedule/collapsed_form.h"
#include "codegen/schedule/decisions.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/fusion.h"
#include "codegen/schedule/gpu_check.h"
#include "codegen/schedule/gpu_shape.h"
#include "codegen/schedule/matrix_tiles.h"
#include "codegen/schedule/nest_check.h"
#include "codegen/schedule/masked_vector.h"
#include "codegen/schedule/streaming.h"
#include "codegen/schedule/sum_order.h"
#include "codegen/schedule/runtime_sizes.h"
#include "codegen/schedule/scan.h"
#include "codegen/target/costs.h"

namespace tile_tune::codegen {
namespace {

Result<void> check_parallel(const Loops& loops, int number, const NestSchedule& stage) {
  if (stage.cpu().parallel < 0 || stage.cpu().parallel > static_cast<int>(loops.output.size()))
    return invalid(number, "it runs more loops in parallel than there are");
  return {};
}

Result<void> check_reduction(const ir::Statement& statement, const Loops& loops, int number,
                             const NestSchedule& stage) {
  TILE_TUNE_CHECK(check_blocks(loops, number, stage));
  for (size_t r = 0; r < loops.reduction.size(); ++r) {
    const int64_t extent = std::max<int64_t>(loops.reduction[r], 1), block = stage.reduction_block[r];
    const bool lanes_here = stage.cpu().vector_loop == static_cast<int>(loops.output.size() + r);
    const int64_t step = int64_t{stage.reduction_unroll[r]} * (lanes_here ? stage.cpu().lanes : 1);
    // The last dot product may have fewer iterations (check_dot_product()).
    const bool may_end_early =
        stage.dot_product && block == extent && static_cast<int>(r) == stage.reduction_order.back();
    const bool fits = most_unrolled(extent, block) % std::max<int64_t>(step, 1) == 0 ||
                      may_leave_some(statement, loops, stage, static_cast<int>(r));
    if (stage.reduction_unroll[r] < 1 || step > block || (!lanes_here && !fits && !may_end_early))
      return invalid(number,
                     fmt::format("unrolling reduction loop {} by {} does not fit its blocks {}", r, step,
                                 extent % block == 0 ? fmt::format("of {}", block)
                                                     : fmt::format("of {}, the last of {}", block, extent % block)));
    if (lanes_here && block != extent) return invalid(number, "a reduction loop in vector lanes cannot be blocked");
  }
  return {};
}

Result<void> check_vector(const Loops& loops, int number, const NestSchedule& stage) {
  if (stage.cpu().lanes < 1 || stage.cpu().lanes > 128 || (stage.cpu().lanes & (stage.cpu().lanes - 1)) != 0)
    return invalid(number, "vector lanes are not a power of two up to 128");
  if (stage.cpu().vector_loop < -1 || stage.cpu().vector_loop >= loops.loop_count())
    return invalid(number, "it vectorises a loop that is not there");
  if ((stage.cpu().vector_loop == -1) != (stage.cpu().lanes == 1))
    return invalid(number, "vector loop and lanes contradict each other");
  if (stage.cpu().vector_loop >= 0 && stage.cpu().vector_loop < static_cast<int>(loops.output.size()) &&
      stage.tiles[stage.cpu().vector_loop].back() % stage.cpu().lanes != 0)
    return invalid(number, "the register tile of the vector loop is not a multiple of the lanes");
  return {};
}

Result<void> check_depths(const Loops& loops, int number, const NestSchedule& stage) {
  const int depths = static_cast<int>(loops.output.size() * stage.order.size());
  for (const auto& packing : stage.packings)
    if (packing.depth < -1 || packing.depth > depths || (packing.depth > 0 && packing.depth < stage.cpu().parallel))
      return invalid(number, "it packs inside a loop that is not there");
  return {};
}

/// Of the decisions that say themselves what makes them valid.
Result<void> check_optional(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  std::string fault;
  for_each_decision([&](const auto& decision) {
    if (decision.traits.fault && fault.empty()) fault = decision.traits.fault(program, loops, stage);
  });
  if (!fault.empty()) return invalid(number, fault);
  return {};
}

Result<void> check_scan(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  if (!stage.scan) return {};
  if (!scan_of(program.statements[number], loops)) return invalid(number, "it is no running total");
  if (stage.cpu().vector_loop >= static_cast<int>(loops.output.size()) || stage.parallel_reduction ||
      stage.dot_product || stage.compute_at || !stage.packings.empty())
    return invalid(number, "a running total has no reduction, no packed operand, and a nest of its own");
  return {};
}

bool has_own_nest(const Schedule& schedule, int s) {
  return schedule.stages[s].find_nest() && !schedule.stages[s].compute_at();
}

Result<void> check_in_turn(const ir::Program& program, const Schedule& schedule) {
  for (const auto& [s, other, pieces] : schedule.in_turn) {
    if (s < 0 || s >= static_cast<int>(schedule.stages.size()) || other < 0 || other >= s || pieces < 2)
      return invalid(s, "it runs in turn with a statement that is none before it");
    if (!has_own_nest(schedule, s) || !has_own_nest(schedule, other) || schedule.stages[s].nest().is_gpu())
      return invalid(s, "only nests of their own run in turn");
    if (!reads_inputs_alone(program, program.statements[s]) || !schedule.stages[s].nest().packings.empty())
      return invalid(s, "it runs in turn with another and reads more than inputs");
  }
  return {};
}

/// Whether the device is large enough for each nest, all of which are mapped to a GPU.
Result<void> check_device(const DeviceLimits& limits, const ir::Program& program, const Schedule& schedule) {
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    const Loops loops = one_piece(loops_of(program, program.statements[s]), *nest);
    const int number = static_cast<int>(s);
    const std::string fault = device_fault(limits, gpu_shape(program, number, loops, *nest));
    if (!fault.empty()) return invalid(number, fault);
  }
  return {};
}

}  // namespace

bool reads_inputs_alone(const ir::Program& program, const ir::Statement& statement) {
  bool inputs_alone = !statement.previous && !statement.unwritten;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) {
    inputs_alone &= program.tensors[read.tensor].role == ir::Role::Input;
  });
  return inputs_alone;
}

int64_t unrolled_operations(const Loops& loops, const NestSchedule& stage) {
  int64_t elements = 1, unroll = 1;
  for (const auto& tile : stage.tiles) elements *= tile.back();
  for (const int factor : stage.reduction_unroll) unroll *= factor;
  unroll *= std::max(stage.partial_sums, 1);
  if (stage.is_gpu() || stage.vector_loop() < 0) return elements * unroll;  // threads compute one by one
  if (stage.vector_loop() < static_cast<int>(loops.output.size())) return elements / stage.lanes() * unroll;
  return elements *
         (unroll + costs::kOperationsPerHalving * std::countr_zero(static_cast<unsigned>(stage.cpu().lanes)));
}

Result<void> check_dot_product(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  if (stage.is_gpu()) return {};  // gpu_check.h
  if (stage.dot_pairs && !stage.dot_product) return invalid(number, "pairs are of dot products, of which it has none");
  if (stage.dot_tiles && !stage.dot_product) return invalid(number, "tiles are of dot products, of which it has none");
  if (!stage.dot_product) return {};
  const auto dot = dot_product(program.statements[number], loops, stage);
  if (!dot || stage.parallel_reduction) return invalid(number, "there are no dot products in it");
  if (dot->in_lanes) {
    if (stage.dot_pairs) return invalid(number, "dot products in lanes are of pairs in any case");
    if (int64_t{stage.reduction_unroll[dot->loop]} * stage.cpu().lanes * dot->width > loops.reduction[dot->loop])
      return invalid(number, "its lanes take more dot products at a time than the reduction has");
    return {};
  }
  if (stage.reduction_unroll[dot->loop] != dot->width)
    return invalid(number, fmt::format("dot products take {} iterations of the innermost reduction loop", dot->width));
  const auto packing = std::find_if(stage.packings.begin(), stage.packings.end(),
                                    [&](const Packing& one) { return one.operand == dot->column; });
  if (packing == stage.packings.end())
    return invalid(number, "dot products need the operand of the vector loop packed");
  if (stage.dot_tiles) {
    const auto tiles = matrix_tiles(program.statements[number], loops, stage);
    if (!tiles) return invalid(number, "its loops have no place for tiles of a matrix unit");
    if (!suits_operands(program, loops, stage, *tiles))
      return invalid(number, "tiles of a matrix unit need the operand of the rows packed along the reduction");
  }
  // What sets the shift right sums up the whole reduction, of which a copy inside a block's loops holds one block, and
  // is needed where results are stored, outside the loops that fill their home.
  const int outermost = static_cast<int>(loops.output.size()) - (is_blocked(loops, stage) ? 1 : 0);
  if (dot->shifted && has_home(program, program.statements[number], loops, stage) && packing->depth > outermost)
    return invalid(number, "dot products of signed bytes need the packed operand outside the loops over its blocks");
  return {};
}

Result<void> check_stage(const ir::Program& program, const Loops& whole, int number, const NestSchedule& stage) {
  if (stage.is_gpu()) return check_gpu_stage(program, whole, number, stage);
  TILE_TUNE_CHECK(check_pieces(program, whole, number, stage));
  Loops loops = one_piece(whole, stage);
  if (const auto fault = masked_vector_fault(program, number, loops, stage); !fault.empty())
    return invalid(number, fault);
  loops = as_long_as_vector(std::move(loops), stage);
  TILE_TUNE_CHECK(check_tiles(loops, number, stage));
  TILE_TUNE_CHECK(check_parallel(loops, number, stage));
  TILE_TUNE_CHECK(check_vector(loops, number, stage));
  TILE_TUNE_CHECK(check_reduction(program.statements[number], loops, number, stage));
  TILE_TUNE_CHECK(check_packings(loops, number, stage));
  TILE_TUNE_CHECK(check_depths(loops, number, stage));
  TILE_TUNE_CHECK(check_optional(program, loops, number, stage));
  if (stage.compute_at && stage.cpu().parallel > 0)
    return invalid(number, "it runs in parallel inside the loops of another statement");
  if (unrolled_operations(loops, stage) > costs::kMostUnrolled)
    return invalid(number, fmt::format("it unrolls {} operations, more than {}", unrolled_operations(loops, stage),
                                       costs::kMostUnrolled));
  return {};
}

Result<void> check(const ir::Program& program, const Schedule& schedule) {
  if (schedule.collapsed) {
    TILE_TUNE_TRY(form, collapsed_form(program, schedule));
    return check(form.program, form.schedule);
  }
  if (schedule.stages.size() != program.statements.size())
    return fail(ErrorClass::Program, "invalid-schedule",
                fmt::format("the schedule is for {} statements, the program has {}", schedule.stages.size(),
                            program.statements.size()));
  TILE_TUNE_CHECK(check_roles(program, schedule));
  TILE_TUNE_CHECK(check_size_sources(program, schedule.runtime));
  const Fusion fusion(program, schedule);
  std::optional<MatrixTiles> tiles;
  // What a nest computes inside another depends on that one's tiles: the last statements first.
  for (int s = static_cast<int>(schedule.stages.size()) - 1; s >= 0; --s) {
    const int owner = fusion.owner_of(s);
    if (owner < 0 || fusion.stored_by(owner) != s) continue;
    if (owner != s && !fusion.epilogue_loops(s, owner))
      return invalid(s, "it is the epilogue of a statement that cannot have one");
    const auto extents = fusion.extents(owner);
    if (!extents) return invalid(owner, "it cannot be computed inside the loops that the schedule names");
    Loops loops = fusion.loops(owner);
    loops.output = *extents;
    if (schedule.runtime.guarded) loops.output = extents_for_guarded_tiles(program, schedule, owner, loops.output);
    if (has_masked_vector(loops, schedule.stages[owner].nest()) &&
        !may_store_masked_vector(program, schedule, fusion, owner))
      return invalid(owner, "its vectors are longer than their loop");
    TILE_TUNE_CHECK(check_scan(program, loops, owner, schedule.stages[owner].nest()));
    TILE_TUNE_CHECK(check_stage(program, loops, owner, schedule.stages[owner].nest()));
    TILE_TUNE_CHECK(check_dot_product(program, loops, owner, schedule.stages[owner].nest()));
    if (!schedule.stages[owner].nest().dot_tiles) continue;
    const auto others =
        std::exchange(tiles, matrix_tiles(program.statements[owner], loops, schedule.stages[owner].nest()));
    if (!has_rows_in_memory(program, schedule, loops, schedule.stages[owner].nest(), *tiles))
      return invalid(owner, "tiles need a copy of rows that are computed where they are read");
    if (others && !go_together(*others, *tiles)) return invalid(owner, "its tiles and another's are of two shapes");
  }
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    for (const auto& packing : nest->packings)
      if (packing.depth < fusion.least_packing_depth(static_cast<int>(s), packing.operand))
        return invalid(static_cast<int>(s), "it packs an operand before that is computed");
  }
  TILE_TUNE_CHECK(check_in_turn(program, schedule));
  return check_runtime_sizes(program, schedule);
}

Result<void> check_for(const Target& target, const ir::Program& program, const Schedule& schedule) {
  if (schedule.collapsed) {
    // Sums keep the order of the program's own reduction loops there.
    if (target.deterministic)
      return fail(ErrorClass::Program, "invalid-schedule", "on a deterministic target no dimensions are collapsed");
    TILE_TUNE_TRY(form, collapsed_form(program, schedule));
    return check_for(target, form.program, form.schedule);
  }
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto* nest = schedule.stages[s].find_nest();
    if (!nest) continue;
    if (nest->is_gpu() != (target.device == Device::Gpu))
      return invalid(static_cast<int>(s),
                     fmt::format("its loops are mapped to a {}, the target is a {}",
                                 name(nest->is_gpu() ? Device::Gpu : Device::Cpu), name(target.device)));
    if (!nest->is_gpu() && nest->cpu().streaming && !has_streaming(target))
      return invalid(static_cast<int>(s), "only on x86-64 can results leave the caches out");
    if (nest->dot_tiles && !target.has_matrix_tiles())
      return invalid(static_cast<int>(s),
                     "its dot products are of tiles, for which the target has no matrix unit (amx)");
  }
  TILE_TUNE_CHECK(check(program, schedule));
  if (target.device == Device::Gpu) TILE_TUNE_CHECK(check_device(device_limits(target), program, schedule));
  return target.deterministic ? check_order(program, schedule) : Result<void>();
}

}  // namespace tile_tune::codegen
