// How a nest that is mapped to a GPU is launched, and what of a device it takes.
#pragma once

#include <array>
#include <string>

#include "codegen/schedule/gpu_nest.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/device_limits.h"

namespace tile_tune::codegen {

/// As gpu_nest.h has the loops of grid and block on x, y and z.
struct GpuShape {
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};  // x, y, z
  int64_t shared_bytes = 0;                              // of a block
  int registers = 0;                                     // of a thread: an estimate, as a rule too high

  int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  int64_t threads() const { return block[0] * block[1] * block[2]; }
  BlockNeeds needs() const { return {threads(), registers, shared_bytes}; }
};

/// `loops` are those of one piece of a parallel reduction (one_piece()); the stage must be mapped to a GPU and have its
/// two tile levels.
GpuShape gpu_shape(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage);

/// The staged copy of an operand: elements between its neighbours along each dimension of the operand, and all of them.
struct Staged {
  std::vector<int64_t> steps;
  int64_t elements = 0;
  int64_t element_bytes = 0;
};
Staged staged_copy(const ir::Program& program, int statement, const Loops& loops, const NestSchedule& stage,
                   const Packing& packing);

/// Why the device cannot run it, in one sentence; empty if it can.
std::string device_fault(const DeviceLimits& limits, const GpuShape& shape);

}  // namespace tile_tune::codegen
