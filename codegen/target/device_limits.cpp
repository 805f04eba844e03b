#include "codegen/target/device_limits.h"

#include <algorithm>
#include <climits>
#include <iterator>

namespace tile_tune::codegen {
namespace {

int64_t steps(int64_t count, int64_t step) { return (count + step - 1) / step; }
int64_t rounded_up(int64_t count, int64_t step) { return steps(count, step) * step; }

// Limits of blocks and multiprocessors: CUDA C++ Programming Guide 12.9 (May 2025), "Technical Specifications per
// Compute Capability"; multiply-adds a cycle: its table of arithmetic throughput. Units of allocation, partitions and
// what the driver reserves: the calculator of CUDA 13.0 (cuda_occupancy.h, August 2025), which a test compares with.
// What the multiprocessors share belongs to a product: its data sheet, memory over boost clock.

// Tesla V100 SXM2 (data sheet of 2018): 80 multiprocessors, 6 MB, 900 GB/s, 1.53 GHz.
const DeviceLimits kVolta = {.shared_most = 96 << 10,
                             .threads = 2048,
                             .blocks = 32,
                             .shared = 96 << 10,
                             .fma_lanes = 64,
                             .fma_lanes_f64 = 32,
                             .multiprocessors = 80,
                             .l2_bytes = 6 << 20,
                             .bytes_per_cycle = 900 / 1.53};

// T4 (data sheet of 2019): 40 multiprocessors, 4 MB, 320 GB/s, 1.59 GHz.
const DeviceLimits kTuring = {.shared_most = 64 << 10,
                              .threads = 1024,
                              .blocks = 16,
                              .shared = 64 << 10,
                              .fma_lanes = 64,
                              .fma_lanes_f64 = 2,
                              .multiprocessors = 40,
                              .l2_bytes = 4 << 20,
                              .bytes_per_cycle = 320 / 1.59};

// A100 SXM4 40 GB (data sheet of 2020): 108 multiprocessors, 40 MB, 1555 GB/s, 1.41 GHz.
const DeviceLimits kAmpere = {.shared_most = 163 << 10,
                              .shared_reserved = 1 << 10,
                              .threads = 2048,
                              .blocks = 32,
                              .shared = 164 << 10,
                              .shared_unit = 128,
                              .fma_lanes = 64,
                              .fma_lanes_f64 = 32,
                              .multiprocessors = 108,
                              .l2_bytes = 40 << 20,
                              .bytes_per_cycle = 1555 / 1.41};

// A10 (data sheet of 2021): 72 multiprocessors, 6 MB, 600 GB/s, 1.695 GHz.
const DeviceLimits kGa10x = {.shared_most = 99 << 10,
                             .shared_reserved = 1 << 10,
                             .threads = 1536,
                             .blocks = 16,
                             .shared = 100 << 10,
                             .shared_unit = 128,
                             .fma_lanes = 128,
                             .fma_lanes_f64 = 2,
                             .multiprocessors = 72,
                             .l2_bytes = 6 << 20,
                             .bytes_per_cycle = 600 / 1.695};

// H100 SXM5 (data sheet of 2023): 132 multiprocessors, 50 MB, 3350 GB/s, 1.98 GHz.
const DeviceLimits kHopper = {.shared_most = 227 << 10,
                              .shared_reserved = 1 << 10,
                              .threads = 2048,
                              .blocks = 32,
                              .shared = 228 << 10,
                              .shared_unit = 128,
                              .fma_lanes = 128,
                              .fma_lanes_f64 = 64,
                              .multiprocessors = 132,
                              .l2_bytes = 50 << 20,
                              .bytes_per_cycle = 3350 / 1.98};

// Chosen bounds that devices of most makers keep to: groups of 256 work items (all that AMD's driver gives without a
// hint), 32 KB of local memory (what OpenCL 1.2 of 2011 promises for its full profile). The rest is as on a small GPU.
const DeviceLimits kOpenCl = {.block_threads = 256,
                              .block = {256, 256, 64},
                              .shared_unasked = 32 << 10,
                              .shared_most = 32 << 10,
                              .threads = 1024,
                              .blocks = 16,
                              .shared = 64 << 10,
                              .fma_lanes = 64,
                              .fma_lanes_f64 = 2,
                              .multiprocessors = 40,
                              .l2_bytes = 4 << 20,
                              .bytes_per_cycle = 320 / 1.59};

}  // namespace

Feature feature_of_capability(int capability) {
  const int wanted = std::max(capability, kLeastCapability);
  return std::find_if(std::begin(kCudaCapabilities), std::end(kCudaCapabilities),
                      [&](const auto& one) { return one.second <= wanted; })
      ->first;
}

std::optional<int> cuda_capability(const Target& target) {
  for (const auto& [feature, capability] : kCudaCapabilities)
    if (target.features.has(feature)) return capability;
  return std::nullopt;
}

const DeviceLimits& device_limits_of_capability(int capability) {
  if (capability >= 90) return kHopper;
  if (capability >= 86) return kGa10x;
  if (capability >= 80) return kAmpere;
  return capability >= 75 ? kTuring : kVolta;
}

DeviceLimits device_limits(const Target& target) {
  if (!target.features.has(Feature::Cuda)) return kOpenCl;
  const FoundDevice& found = target.found;
  DeviceLimits limits =
      device_limits_of_capability(std::max(found.capability, cuda_capability(target).value_or(kLeastCapability)));
  if (found.multiprocessors > 0) limits.multiprocessors = found.multiprocessors;
  if (found.block_shared_bytes > 0) limits.shared_most = found.block_shared_bytes;
  if (found.multiprocessor_shared_bytes > 0) limits.shared = found.multiprocessor_shared_bytes;
  if (found.multiprocessor_threads > 0) limits.threads = found.multiprocessor_threads;
  if (found.cache_bytes > 0) limits.l2_bytes = found.cache_bytes;
  return limits;
}

int resident_blocks(const DeviceLimits& limits, const BlockNeeds& needs) {
  if (needs.threads < 1 || needs.threads > limits.block_threads || needs.registers > limits.registers_a_thread)
    return 0;
  const int64_t warps = steps(needs.threads, limits.warp);
  int64_t blocks = std::min<int64_t>(limits.blocks, limits.threads / limits.warp / warps);

  const int64_t a_warp = rounded_up(int64_t{needs.registers} * limits.warp, limits.register_unit);
  // A launch is refused as if every partition had an equal share of the block's warps.
  if (a_warp * rounded_up(warps, limits.partitions) > limits.block_registers) return 0;
  if (a_warp > 0) blocks = std::min(blocks, limits.registers / limits.partitions / a_warp * limits.partitions / warps);

  const int64_t shared = rounded_up(needs.shared_bytes + limits.shared_reserved, limits.shared_unit);
  const int64_t most = needs.shared_bytes > limits.shared_unasked ? limits.shared_most : limits.shared_unasked;
  if (shared > most + limits.shared_reserved) return 0;
  if (shared > 0) blocks = std::min(blocks, limits.shared / shared);
  return static_cast<int>(blocks);
}

}  // namespace tile_tune::codegen
