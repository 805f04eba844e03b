// What a GPU has, as far as schedules are chosen and refused by it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Sizes are in bytes, registers of 32 bits. A multiprocessor is what OpenCL calls a compute unit, a block a work
/// group.
struct DeviceLimits {
  // What a block may have
  int warp = 32;  // threads that run together
  int64_t block_threads = 1024;
  std::array<int64_t, 3> block{1024, 1024, 64};           // threads along x, y, z
  std::array<int64_t, 3> grid{2147483647, 65535, 65535};  // blocks along x, y, z
  int64_t shared_unasked = 48 << 10;                      // shared memory that no function attribute is needed for
  int64_t shared_most = 48 << 10;
  int64_t shared_reserved = 0;  // what the driver adds for itself
  int registers_a_thread = 255;
  int64_t block_registers = 64 << 10;

  // What the blocks on one multiprocessor share
  int64_t threads = 2048;
  int blocks = 32;
  int64_t registers = 64 << 10;
  int64_t register_unit = 256;  // in which a warp gets its registers
  int partitions = 4;           // each with its part of registers and warps, and a scheduler
  int64_t shared = 96 << 10;
  int64_t shared_unit = 256;  // in which a block gets its shared memory
  int fma_lanes = 64;         // multiply-adds of f32 that start in a cycle
  int fma_lanes_f64 = 32;

  // What the multiprocessors share
  int multiprocessors = 80;
  int64_t l2_bytes = 6 << 20;
  double bytes_per_cycle = 588;  // of its memory, per cycle of a multiprocessor
};

/// Of the CUDA device that was found; else of the newest compute capability that the target names, 7.0 if it names
/// none; of OpenCL devices what is safe for most. The target's device must be a GPU.
DeviceLimits device_limits(const Target& target);

/// The compute capabilities of CUDA that a target can name, 70 for 7.0, the newest first.
inline constexpr std::pair<Feature, int> kCudaCapabilities[] = {
    {Feature::CudaCapability86, 86}, {Feature::CudaCapability80, 80}, {Feature::CudaCapability75, 75},
    {Feature::CudaCapability70, 70}, {Feature::CudaCapability61, 61}, {Feature::CudaCapability50, 50},
    {Feature::CudaCapability35, 35}, {Feature::CudaCapability32, 32}, {Feature::CudaCapability30, 30}};
/// The least that all of what we make is made for.
inline constexpr int kLeastCapability = 70;
/// The newest of them that a device of `capability` has, but at least kLeastCapability.
Feature feature_of_capability(int capability);
/// The newest that the target names; nullopt: none.
std::optional<int> cuda_capability(const Target& target);

/// By compute capability, 70 for 7.0: the newest of 7.0, 7.5, 8.0, 8.6 and 9.0 that is not newer.
const DeviceLimits& device_limits_of_capability(int capability);

/// What a kernel takes of a multiprocessor.
struct BlockNeeds {
  int64_t threads = 1;
  int registers = 0;         // of a thread
  int64_t shared_bytes = 0;  // of a block
};

/// How many blocks of a kernel a multiprocessor runs at a time, as the toolkit's calculator (cuda_occupancy.h) has it;
/// 0: none can be launched.
int resident_blocks(const DeviceLimits& limits, const BlockNeeds& needs);

}  // namespace tile_tune::codegen
