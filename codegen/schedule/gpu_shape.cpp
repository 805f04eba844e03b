#include "codegen/schedule/gpu_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/target/costs.h"

namespace tile_tune::codegen {
namespace {

int64_t words(DType type) { return (static_cast<int64_t>(dtype_size(type)) + 3) / 4; }

int estimated_registers(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage,
                        double staged_words, int64_t threads) {
  double registers = costs::gpu::kBesideSums +
                     static_cast<double>(thread_elements(stage) * words(program.statements[statement].accumulator));
  std::vector<int64_t> step;
  double held = 1;
  for (const auto& tiles : stage.tiles) step.push_back(tiles.back());
  for (const int64_t tile : step) held *= static_cast<double>(tile);
  step.resize(static_cast<size_t>(loops.loop_count()), 1);
  for (const auto& operand : loops.operands)
    if (operand.affine && !loops.reduction.empty())
      registers += costs::gpu::kSetsOfOperands * std::min(held, loops.footprint(program, operand, step)) *
                   static_cast<double>(words(program.tensors[operand.tensor].type));
  const bool is_unrolled = std::equal(stage.reduction_block.begin(), stage.reduction_block.end(),
                                      stage.reduction_unroll.begin(), stage.reduction_unroll.end());
  if (stage.gpu().pipelined)
    registers += (is_unrolled ? costs::gpu::kStagedAhead : costs::gpu::kStagedAheadOfLoop) * staged_words /
                 static_cast<double>(threads);
  return static_cast<int>(std::min(registers, 1e6));
}

}  // namespace

Staged staged_copy(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage,
                   const Packing& packing) {
  const Operand& operand = loops.operands[packing.operand];
  const std::vector<int64_t> sides = stored_sides(program, statement, loops, stage, packing);
  Staged staged{std::vector<int64_t>(sides.size(), 0), 1,
                static_cast<int64_t>(dtype_size(staged_type(program, statement, operand)))};
  for (size_t i = 0; i < packing.order.size(); ++i) {
    staged.steps[packing.order[i]] = staged.elements;
    staged.elements *= sides[i];
  }
  return staged;
}

GpuShape gpu_shape(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage) {
  const GpuMapping& mapping = stage.gpu();
  GpuShape shape;
  shape.grid = grid_extents(loops, stage);
  shape.block = block_extents(program, loops, stage);
  if (mapping.reduction_threads > 1) {
    // Every thread's sums, and what the steps but the last leave of them.
    int64_t sums = mapping.reduction_threads;
    for (const int64_t left : reduction_steps(mapping.reduction_threads)) sums += left > 1 ? left : 0;
    shape.shared_bytes += sums * shape.threads() / mapping.reduction_threads * thread_elements(stage) *
                          static_cast<int64_t>(dtype_size(program.statements[statement].accumulator));
  }
  double staged_words = 0;
  for (const Packing& packing : stage.packings) {
    const Staged staged = staged_copy(program, statement, loops, stage, packing);
    staged_words += static_cast<double>(staged.elements * staged.element_bytes) / 4;
    shape.shared_bytes += staged.elements * staged.element_bytes * (mapping.pipelined ? 2 : 1);
  }
  shape.registers = estimated_registers(program, statement, loops, stage, staged_words, shape.threads());
  return shape;
}

std::string device_fault(const DeviceLimits& limits, const GpuShape& shape) {
  if (shape.threads() > limits.block_threads)
    return fmt::format("a block of {} threads is larger than the device's {}", shape.threads(), limits.block_threads);
  constexpr const char* kNames[] = {"x", "y", "z"};
  for (size_t d = 0; d < 3; ++d) {
    if (shape.block[d] > limits.block[d])
      return fmt::format("a block has {} threads along {}, the device allows {}", shape.block[d], kNames[d],
                         limits.block[d]);
    if (shape.grid[d] > limits.grid[d])
      return fmt::format("the grid has {} blocks along {}, the device allows {}", shape.grid[d], kNames[d],
                         limits.grid[d]);
  }
  if (shape.shared_bytes > limits.shared_most)
    return fmt::format("a block takes {} bytes of shared memory, the device has {}", shape.shared_bytes,
                       limits.shared_most);
  if (resident_blocks(limits, shape.needs()) < 1)
    return fmt::format("{} threads of about {} registers are more than a multiprocessor of the device holds",
                       shape.threads(), shape.registers);
  return "";
}

}  // namespace tile_tune::codegen
