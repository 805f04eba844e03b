#include "codegen/schedule/gpu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/schedule/check.h"
#include "codegen/schedule/decisions.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/gpu_nest.h"
#include "codegen/schedule/nest_check.h"
#include "codegen/target/costs.h"

namespace tile_tune::codegen {
namespace {

// What every device has: CUDA's limits of all compute capabilities, "Features and Technical Specifications".
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kMostSlowThreads = 64;            // along the slowest dimension of a block
constexpr int64_t kMostBlocks = (1LL << 31) - 1;    // along the fastest dimension of a grid
constexpr int64_t kMostSlowBlocks = (1 << 16) - 1;  // along each of the others

Result<void> check_left_out(int number, const NestSchedule& stage) {
  const char* fault = nullptr;
  for_each_decision_of(stage, [&](const auto& decision) {
    if (decision.traits.not_on_gpu && !fault && !decision.has_default(stage)) fault = decision.traits.not_on_gpu;
  });
  if (fault) return invalid(number, fault);
  return {};
}

Result<void> check_gpu_vector(const Loops& loops, int number, const NestSchedule& stage) {
  const auto& gpu = stage.gpu();
  if (gpu.lanes != 1 && gpu.lanes != 2 && gpu.lanes != 4) return invalid(number, "it has other lanes than 1, 2 or 4");
  if (gpu.vector_loop < -1 || gpu.vector_loop >= static_cast<int>(loops.output.size()))
    return invalid(number, "it vectorises what is no output loop");
  if ((gpu.vector_loop == -1) != (gpu.lanes == 1))
    return invalid(number, "vector loop and lanes contradict each other");
  if (gpu.vector_loop >= 0 && stage.tiles[gpu.vector_loop].back() % gpu.lanes != 0)
    return invalid(number, "a thread's tile along the vector loop is not a multiple of the lanes");
  return {};
}

Result<void> check_shares(const Loops& loops, int number, const NestSchedule& stage) {
  const int threads = stage.gpu().reduction_threads;
  if (threads == 1) return {};
  if (threads < 1 || !std::has_single_bit(static_cast<unsigned>(threads)))
    return invalid(number, "the threads that share a reduction are no power of two");
  if (const int64_t most = most_reduction_threads(loops); threads > most)
    return invalid(number, fmt::format("{} threads share a reduction that has work for {}", threads, most));
  if (!stage.packings.empty()) return invalid(number, "threads that share a reduction have nothing staged for them");
  if (stage.gpu().interleaved) return invalid(number, "elements of threads that share a reduction lie side by side");
  return {};
}

Result<void> check_dimensions(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  if (const int64_t threads = gpu_threads(stage); threads > kMostThreads)
    return invalid(number, fmt::format("a block of {} threads is larger than {}", threads, kMostThreads));
  if (block_extents(program, loops, stage).back() > kMostSlowThreads)
    return invalid(number, fmt::format("the slowest dimension of a block is larger than {}", kMostSlowThreads));
  const auto grid = grid_extents(loops, stage);
  for (size_t d = 0; d < grid.size(); ++d)
    if (const int64_t most = d == 0 ? kMostBlocks : kMostSlowBlocks; grid[d] > most)
      return invalid(number, fmt::format("dimension {} of the grid has {} blocks, more than {}", d, grid[d], most));
  return {};
}

Result<void> check_sums(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  const ReductionShares shares = reduction_shares(loops, stage);
  for (size_t r = 0; r < loops.reduction.size(); ++r) {
    const int64_t block = stage.reduction_block[r];
    if (shares.threads[r] > 1) {
      // Iterations that are left over are a loop of their own.
      const int64_t most = std::max<int64_t>(block / shares.threads[r], 1);
      if (stage.reduction_unroll[r] < 1 || stage.reduction_unroll[r] > most)
        return invalid(number, fmt::format("unrolling reduction loop {} by {} is more than a thread's {} iterations", r,
                                           stage.reduction_unroll[r], most));
      continue;
    }
    if (stage.reduction_unroll[r] < 1 || block % stage.reduction_unroll[r] != 0)
      return invalid(number, fmt::format("unrolling reduction loop {} by {} does not fit its block {}", r,
                                         stage.reduction_unroll[r], block));
  }
  if (is_blocked(loops, stage) && stage.packings.empty())
    return invalid(number, "a reduction in blocks has nothing to stage between them");
  if (const int64_t operations = unrolled_operations(loops, stage); operations > costs::gpu::kMostUnrolled)
    return invalid(number,
                   fmt::format("it unrolls {} operations, more than {}", operations, costs::gpu::kMostUnrolled));
  const auto& statement = program.statements[number];
  const int64_t registers =
      thread_elements(stage) * std::max<int64_t>(static_cast<int64_t>(dtype_size(statement.accumulator)) / 4, 1);
  if (registers > costs::gpu::kMostSumRegisters)
    return invalid(number, fmt::format("a thread's sums take {} registers, more than {}", registers,
                                       costs::gpu::kMostSumRegisters));
  return {};
}

Result<void> check_staged(const ir::Program& program, int number, const Loops& loops, const NestSchedule& stage) {
  if (loops.output.empty() && !stage.packings.empty())
    return invalid(number, "one thread has nobody to share an operand with");
  for (const auto& packing : stage.packings)
    if (packing.depth != static_cast<int>(loops.output.size()))
      return invalid(number, "operands are staged inside all loops of the grid, and nowhere else");
  const auto& gpu = stage.gpu();
  if (gpu.padding < 0 || gpu.padding > kMostPadding)
    return invalid(number, fmt::format("padding is not within 0 and {}", kMostPadding));
  if (gpu.padding > 0 && stage.packings.empty()) return invalid(number, "it pads what it does not stage");
  if (gpu.pipelined)
    if (const std::string fault = pipeline_fault(program, loops, stage); !fault.empty()) return invalid(number, fault);
  if (gpu.resident_blocks < 0 || gpu.resident_blocks > kMostResidentBlocks)
    return invalid(number, fmt::format("resident blocks are not within 0 and {}", kMostResidentBlocks));
  return {};
}

Result<void> check_dots(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  if (!stage.dot_product) return {};
  const auto dot = dot_product(program.statements[number], loops, stage);
  if (!dot) return invalid(number, "there are no dot products in it");
  if (stage.gpu().reduction_threads > 1) return invalid(number, "threads that share a reduction have no dot products");
  if (stage.reduction_unroll[dot->loop] % dot->width != 0)
    return invalid(number, fmt::format("dot products take {} iterations of the innermost reduction loop", dot->width));
  return {};
}

}  // namespace

Result<void> check_gpu_stage(const ir::Program& program, const Loops& whole, int number, const NestSchedule& stage) {
  TILE_TUNE_CHECK(check_left_out(number, stage));
  TILE_TUNE_CHECK(check_pieces(program, whole, number, stage));
  const Loops loops = one_piece(whole, stage);
  if (stage.order.size() != 2) return invalid(number, "a nest on a GPU has two tile levels, blocks and threads");
  TILE_TUNE_CHECK(check_tiles(loops, number, stage));
  TILE_TUNE_CHECK(check_gpu_vector(loops, number, stage));
  TILE_TUNE_CHECK(check_blocks(loops, number, stage));
  TILE_TUNE_CHECK(check_shares(loops, number, stage));
  TILE_TUNE_CHECK(check_dimensions(program, loops, number, stage));
  TILE_TUNE_CHECK(check_packings(loops, number, stage));
  TILE_TUNE_CHECK(check_staged(program, number, loops, stage));
  TILE_TUNE_CHECK(check_sums(program, loops, number, stage));
  return check_dots(program, loops, number, stage);
}

}  // namespace tile_tune::codegen
