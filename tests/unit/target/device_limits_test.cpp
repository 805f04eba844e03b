// What devices have, and the number of blocks that fit a multiprocessor against the toolkit's own calculator.
#include "codegen/target/device_limits.h"

#include <catch2/catch.hpp>
#include <climits>
#include <iostream>
#include <random>

#ifdef TILE_TUNE_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include TILE_TUNE_CUDA_OCCUPANCY
#pragma GCC diagnostic pop
#endif

using namespace tile_tune::codegen;

namespace {

DeviceLimits limits_of(const std::string& text) {
  INFO(text);
  const auto target = parse_target(text);
  REQUIRE(target);
  return device_limits(*target);
}

}  // namespace

TEST_CASE("a target's device has the limits of the newest capability that it names", "[unit]") {
  CHECK(limits_of("x86-64-linux-cuda-cuda_capability_80").shared_most == 163 << 10);
  CHECK(limits_of("x86-64-linux-cuda-cuda_capability_75-cuda_capability_86").threads == 1536);
  CHECK(limits_of("x86-64-linux-cuda").shared_most == 96 << 10);
  CHECK(limits_of("x86-64-linux-opencl").shared_most == 32 << 10);
  CHECK(&device_limits_of_capability(100) == &device_limits_of_capability(90));
  CHECK(&device_limits_of_capability(89) == &device_limits_of_capability(86));
}

TEST_CASE("a device that was found has the limits that it tells, not those of what kernels are made for", "[unit]") {
  auto target = *parse_target("x86-64-linux-cuda-cuda_capability_86");
  target.found = {0, 90, 114, 200 << 10, 201 << 10, 2048, 60 << 20};
  const auto limits = device_limits(target);
  CHECK(limits.multiprocessors == 114);
  CHECK(limits.shared_most == 200 << 10);
  CHECK(limits.shared == 201 << 10);
  CHECK(limits.threads == 2048);
  CHECK(limits.l2_bytes == 60 << 20);
  CHECK(limits.fma_lanes_f64 == device_limits_of_capability(90).fma_lanes_f64);
  target.found = {0, 90};
  CHECK(device_limits(target).multiprocessors == device_limits_of_capability(90).multiprocessors);
  CHECK(device_limits(target).l2_bytes == device_limits_of_capability(90).l2_bytes);
}

TEST_CASE("what no multiprocessor can hold has no block on it", "[unit]") {
  const DeviceLimits& limits = device_limits_of_capability(80);
  CHECK(resident_blocks(limits, {.threads = 256, .registers = 128, .shared_bytes = 16 << 10}) == 2);
  CHECK(resident_blocks(limits, {.threads = 1025, .registers = 16, .shared_bytes = 0}) == 0);
  CHECK(resident_blocks(limits, {.threads = 512, .registers = 255, .shared_bytes = 0}) == 0);
  CHECK(resident_blocks(limits, {.threads = 32, .registers = 256, .shared_bytes = 0}) == 0);
  CHECK(resident_blocks(limits, {.threads = 32, .registers = 32, .shared_bytes = 164 << 10}) == 0);
  CHECK(resident_blocks(limits, {.threads = 32, .registers = 0, .shared_bytes = 0}) == 32);
}

TEST_CASE("500 random kernels have as many blocks on a multiprocessor as the toolkit's calculator says", "[unit]") {
#ifdef TILE_TUNE_CUDA_OCCUPANCY
  std::mt19937_64 random(2026);
  const auto below = [&](int64_t count) { return static_cast<int64_t>(random() % static_cast<uint64_t>(count)); };
  int runnable = 0;
  for (int i = 0; i < 500; ++i) {
    constexpr int kCapabilities[] = {70, 75, 80, 86, 90};
    const int capability = kCapabilities[below(5)];
    const DeviceLimits& limits = device_limits_of_capability(capability);
    BlockNeeds needs;
    needs.threads = 1 + below(below(4) == 0 ? 1100 : 512);
    needs.registers = static_cast<int>(below(256));
    needs.shared_bytes = below(3) == 0 ? 0 : below(below(2) == 0 ? 48 << 10 : limits.shared_most + (2 << 10));

    cudaOccDeviceProp device;
    device.computeMajor = capability / 10;
    device.computeMinor = capability % 10;
    device.maxThreadsPerBlock = static_cast<int>(limits.block_threads);
    device.maxThreadsPerMultiprocessor = static_cast<int>(limits.threads);
    device.regsPerBlock = static_cast<int>(limits.block_registers);
    device.regsPerMultiprocessor = static_cast<int>(limits.registers);
    device.warpSize = limits.warp;
    device.sharedMemPerBlock = static_cast<size_t>(limits.shared_unasked);
    device.sharedMemPerMultiprocessor = static_cast<size_t>(limits.shared);
    device.numSms = limits.multiprocessors;
    device.sharedMemPerBlockOptin = static_cast<size_t>(limits.shared_most);
    device.reservedSharedMemPerBlock = static_cast<size_t>(limits.shared_reserved);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX;
    function.numRegs = needs.registers;
    function.sharedSizeBytes = 0;
    function.partitionedGCConfig = PARTITIONED_GC_OFF;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = static_cast<size_t>(needs.shared_bytes);
    function.numBlockBarriers = 1;
    cudaOccDeviceState state;
    cudaOccResult result{};
    REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state,
                                                    static_cast<int>(needs.threads),
                                                    static_cast<size_t>(needs.shared_bytes)) == CUDA_OCC_SUCCESS);
    CAPTURE(capability, needs.threads, needs.registers, needs.shared_bytes);
    CHECK(resident_blocks(limits, needs) == result.activeBlocksPerMultiprocessor);
    runnable += result.activeBlocksPerMultiprocessor > 0;
  }
  CHECK(runnable > 200);
#else
  std::cout << "skipped: no CUDA toolkit (cuda_occupancy.h) on this machine\n";
#endif
}
