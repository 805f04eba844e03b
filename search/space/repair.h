// Makes any NestSchedule of the right shape valid and canonical, changing as little as possible, and says what it took
// back.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "search/space/drawn.h"

namespace tile_tune::search {

/// Bytes of all of a tensor's elements.
inline double tensor_bytes(const ir::Tensor& tensor) {
  return static_cast<double>(ir::element_count(tensor)) * static_cast<double>(dtype_size(tensor.type));
}

/// Everything the moves need to know about one statement.
struct StageContext {
  const ir::Program* program = nullptr;
  const codegen::Target* target = nullptr;
  int statement = 0;
  codegen::Loops loops;
  DType type = DType::F32;  // of the accumulators
  bool can_inline = false;

  int outputs() const { return static_cast<int>(loops.output.size()); }
  int reductions() const { return static_cast<int>(loops.reduction.size()); }
  int contiguous_loop() const { return codegen::contiguous_loop(*program, program->statements[statement], loops); }
  /// Elements between what two neighbours along the loop read.
  int64_t distance(const codegen::Operand& operand, int loop) const {
    return std::abs(loops.stride(*program, operand, loop));
  }
  int64_t bytes_apart(const codegen::Operand& operand, int loop) const {
    return distance(operand, loop) * static_cast<int64_t>(dtype_size(program->tensors[operand.tensor].type));
  }
  /// Bytes the operand has in so many iterations of each loop.
  double bytes(const codegen::Operand& operand, const std::vector<int64_t>& extents) const {
    return loops.footprint(*program, operand, extents) *
           static_cast<double>(dtype_size(program->tensors[operand.tensor].type));
  }
};

constexpr std::string_view kTooLongVectors = "its vectors were longer than their loop";

/// True if sums must be added up one after the other: floats on a deterministic target.
bool keeps_order(const StageContext& context);

/// On a deterministic target the order of sums that every schedule for one has. `context` has the loops of the whole
/// stage.
void repair_order(const StageContext& context, codegen::NestSchedule& stage, Notes& notes);

/// Running totals where they were asked for and are to be had; only the nest that looks them up is left to decide then.
/// `context` has the loops of the whole stage.
void repair_scan(const StageContext& context, codegen::NestSchedule& stage, Notes& notes);

/// Takes out a parallel reduction that is impossible, or cuts it into as many pieces as leave little of its loop over.
void repair_pieces(const StageContext& context, codegen::NestSchedule& stage, Notes& notes);

/// A stage with a nest of its own, which runs over context.loops (one piece of a parallel reduction). Tiles nest and
/// fit, vector lanes divide their tile, unrolls divide their blocks, packings stand at loops that are there, the
/// unrolled body stays small, other decisions are as their rules (decisions.h) have them. Loops that run once are put
/// in one fixed place, so that schedules that differ only there are equal. `notes` gets what was asked for and taken
/// back.
codegen::NestSchedule repair(const StageContext& context, codegen::NestSchedule stage, Notes& notes);
codegen::NestSchedule repair(const StageContext& context, codegen::NestSchedule stage);

/// Loops of nesting level `level` that run more than once.
int64_t trip_count(const codegen::Loops& loops, const codegen::NestSchedule& stage, int loop, size_t level);

}  // namespace tile_tune::search
