#include "codegen/schedule/gpu_nest.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

// The fastest loops have a dimension each, all others share the slowest one.
GpuDimensions dimensions(const std::vector<int>& order, const std::vector<int64_t>& iterations) {
  GpuDimensions result;
  for (auto p = order.rbegin(); p != order.rend(); ++p) {
    if (iterations[static_cast<size_t>(*p)] <= 1) continue;
    if (result.size() < kGpuDimensions) result.emplace_back();
    result.back().insert(result.back().begin(), *p);
  }
  return result;
}

}  // namespace

int64_t blocks_of_loop(const Loops& loops, const NestSchedule& stage, int p) {
  const int64_t tile = stage.tiles[p].front();
  return (loops.output[p] + tile - 1) / tile;
}

int64_t threads_of_loop(const NestSchedule& stage, int p) { return stage.tiles[p].front() / stage.tiles[p].back(); }

GpuDimensions grid_dimensions(const Loops& loops, const NestSchedule& stage) {
  std::vector<int64_t> blocks;
  for (size_t p = 0; p < stage.tiles.size(); ++p) blocks.push_back(blocks_of_loop(loops, stage, static_cast<int>(p)));
  return dimensions(stage.order.front(), blocks);
}

GpuDimensions block_dimensions(const NestSchedule& stage) {
  std::vector<int64_t> threads;
  for (size_t p = 0; p < stage.tiles.size(); ++p) threads.push_back(threads_of_loop(stage, static_cast<int>(p)));
  return dimensions(stage.order.back(), threads);
}

int64_t gpu_threads(const NestSchedule& stage) {
  int64_t threads = stage.gpu().reduction_threads;
  for (size_t p = 0; p < stage.tiles.size(); ++p) threads *= threads_of_loop(stage, static_cast<int>(p));
  return threads;
}

int64_t thread_elements(const NestSchedule& stage) {
  int64_t elements = 1;
  for (const auto& tile : stage.tiles) elements *= tile.back();
  return elements;
}

int64_t piece_along(const NestSchedule& stage, int p) {
  const int64_t tile = stage.tiles[p].back();
  if (!stage.gpu().interleaved) return tile;
  return tile % stage.lanes() == 0 ? stage.lanes() : 1;
}

bool has_last_tile(const Loops& loops, const NestSchedule& stage, int p) {
  return loops.output[p] % stage.tiles[p].front() != 0;
}

bool sums_by_block(const NestSchedule& stage) {
  return !stage.tiles.empty() && (stage.gpu().interleaved || !stage.packings.empty());
}

std::vector<int64_t> staged_sides(const Loops& loops, const NestSchedule& stage, const Operand& operand) {
  std::vector<int64_t> iterations;
  for (const auto& tile : stage.tiles) iterations.push_back(tile.front());
  iterations.insert(iterations.end(), stage.reduction_block.begin(), stage.reduction_block.end());
  std::vector<int64_t> sides;
  for (const auto& subscript : operand.subscripts)
    sides.push_back(loops.span(std::get<ir::AffineExpr>(subscript), iterations));
  return sides;
}

}  // namespace tile_tune::codegen
