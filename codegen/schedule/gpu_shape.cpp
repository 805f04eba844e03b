#include "codegen/schedule/gpu_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tile_tune::codegen {
namespace {

int64_t at_least_one(int64_t extent) { return std::max<int64_t>(extent, 1); }

/// x, y and z of what `count` says of each loop; `order` has the fastest one last.
template <typename Count>
std::array<int64_t, 3> dimensions(const std::vector<int>& order, Count count) {
  std::array<int64_t, 3> result{1, 1, 1};
  size_t next = 0;
  for (auto p = order.rbegin(); p != order.rend(); ++p) {
    if (count(*p) <= 1) continue;
    result[std::min<size_t>(next++, 2)] *= count(*p);
  }
  return result;
}

/// Iterations of each loop in one block of the grid and one block of the reduction.
std::vector<int64_t> block_tile(const NestSchedule& stage) {
  std::vector<int64_t> tile;
  for (const auto& tiles : stage.tiles) tile.push_back(tiles.front());
  tile.insert(tile.end(), stage.reduction_block.begin(), stage.reduction_block.end());
  return tile;
}

int64_t words(DType type) { return (static_cast<int64_t>(dtype_size(type)) + 3) / 4; }

// Registers that a thread needs beside its sums: loop counters, addresses. With two sets of the operands' elements of
// one step, of which one is loaded while the other is used, and half of what is staged for the next block of the
// reduction, products of 64 and 128 sums come to 124 and 204 where ptxas 13.0 takes 119 to 127 and 212 to 229, of 32
// sums to 84 where it takes 90 to 95 (sm_80 and sm_90, November 2026).
constexpr double kBesideSums = 28, kSetsOfOperands = 2, kStagedAhead = 0.5;

int estimated_registers(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage,
                        int64_t staged_elements, int64_t threads) {
  double registers =
      kBesideSums + static_cast<double>(elements_of_thread(stage) * words(program.statements[statement].accumulator));
  std::vector<int64_t> step;
  double held = 1;
  for (const auto& tiles : stage.tiles) step.push_back(tiles.back());
  for (const int64_t tile : step) held *= static_cast<double>(tile);
  step.resize(static_cast<size_t>(loops.loop_count()), 1);
  for (const auto& operand : loops.operands)
    if (operand.affine && !loops.reduction.empty())
      registers += kSetsOfOperands * std::min(held, loops.footprint(program, operand, step)) *
                   static_cast<double>(words(program.tensors[operand.tensor].type));
  if (stage.gpu().pipelined) registers += kStagedAhead * static_cast<double>(staged_elements / threads);
  return static_cast<int>(std::min(registers, 1e6));
}

}  // namespace

int64_t threads_along(const NestSchedule& stage, int p) { return stage.tiles[p].front() / stage.tiles[p].back(); }

int64_t elements_of_thread(const NestSchedule& stage) {
  int64_t elements = 1;
  for (const auto& tiles : stage.tiles) elements *= tiles.back();
  return elements;
}

Staged staged_copy(const ir::Program& program, const Loops& loops, const NestSchedule& stage, const Packing& packing) {
  const Operand& operand = loops.operands[packing.operand];
  const ir::Tensor& tensor = program.tensors[operand.tensor];
  const auto extents = ir::shape(tensor);
  const std::vector<int64_t> tile = block_tile(stage);
  Staged staged{std::vector<int64_t>(operand.subscripts.size(), 0), 1, static_cast<int64_t>(dtype_size(tensor.type))};
  // Halves are widened on their way.
  if (tensor.type == DType::F16 || tensor.type == DType::BF16) staged.element_bytes = 4;
  for (size_t i = 0; i < packing.order.size(); ++i) {
    const int d = packing.order[i];
    const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
    staged.steps[d] = staged.elements;
    staged.elements *= std::min(loops.span(subscript, tile), at_least_one(extents[d]));
    if (i == 0) staged.elements += stage.gpu().padding;
  }
  return staged;
}

GpuShape gpu_shape(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage) {
  const GpuMapping& mapping = stage.gpu();
  GpuShape shape;
  shape.grid = dimensions(stage.order[0], [&](int p) {
    return (at_least_one(loops.output[p]) + stage.tiles[p].front() - 1) / stage.tiles[p].front();
  });
  shape.block = dimensions(stage.order[1], [&](int p) { return threads_along(stage, p); });
  if (stage.parallel_reduction) shape.grid[2] *= stage.parallel_reduction->pieces;
  const int64_t sums = elements_of_thread(stage);
  if (mapping.reduction_threads > 1) {  // neighbours, so that they read neighbours
    shape.shared_bytes += shape.threads() * mapping.reduction_threads * sums *
                          static_cast<int64_t>(dtype_size(program.statements[statement].accumulator));
    shape.block = {mapping.reduction_threads, shape.block[0], shape.block[1] * shape.block[2]};
  }
  int64_t staged_elements = 0;
  for (const Packing& packing : stage.packings) {
    const Staged staged = staged_copy(program, loops, stage, packing);
    staged_elements += staged.elements;
    shape.shared_bytes += staged.elements * staged.element_bytes * (mapping.pipelined ? 2 : 1);
  }
  shape.registers = estimated_registers(program, statement, loops, stage, staged_elements, shape.threads());
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
