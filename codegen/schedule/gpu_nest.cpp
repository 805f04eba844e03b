#include "codegen/schedule/gpu_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "codegen/schedule/packed_form.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

// The fastest loops have one of `count` dimensions each, all others share the slowest one.
GpuDimensions dimensions(const std::vector<int>& order, const std::vector<int64_t>& iterations,
                         size_t count = kGpuDimensions) {
  GpuDimensions result;
  for (auto p = order.rbegin(); p != order.rend(); ++p) {
    if (iterations[static_cast<size_t>(*p)] <= 1) continue;
    if (result.size() < count) result.emplace_back();
    result.back().insert(result.back().begin(), *p);
  }
  return result;
}

// Terms that a thread adds up in one step of a tree: its loads are under way together, which costs less than the
// barriers of more steps.
constexpr int kMostTermsLog2 = 4;

int64_t threads_for(int64_t iterations) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(iterations, 1))));
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
  return dimensions(stage.order.back(), threads, kGpuDimensions - (stage.gpu().reduction_threads > 1));
}

ReductionShares reduction_shares(const Loops& loops, const NestSchedule& stage) {
  ReductionShares shares{std::vector<int64_t>(loops.reduction.size(), 1)};
  int64_t left = stage.gpu().reduction_threads;
  for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend() && left > 1; ++r) {
    auto& threads = shares.threads[static_cast<size_t>(*r)];
    threads = std::min(left, threads_for(loops.reduction[static_cast<size_t>(*r)]));
    left /= threads;
    if (threads > 1) shares.in_turns = *r;
  }
  return shares;
}

int64_t most_reduction_threads(const Loops& loops) {
  int64_t most = loops.reduction.empty() ? 0 : 1;
  for (const int64_t extent : loops.reduction) {
    if (extent == 0) return 1;
    most = std::min<int64_t>(most * threads_for(extent), int64_t{1} << 31);
  }
  return std::max<int64_t>(most, 1);
}

std::vector<int64_t> reduction_steps(int64_t threads) {
  std::vector<int64_t> result;
  int left = std::bit_width(static_cast<uint64_t>(threads)) - 1;
  for (int steps = (left + kMostTermsLog2 - 1) / kMostTermsLog2; steps > 0; --steps) {
    left -= (left + steps - 1) / steps;
    result.push_back(int64_t{1} << left);
  }
  return result;
}

bool shares_come_first(const ir::Program& program, const Loops& loops, const NestSchedule& stage) {
  // A loop of one iteration has no neighbours.
  for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend(); ++r) {
    if (loops.reduction[static_cast<size_t>(*r)] <= 1) continue;
    const int loop = static_cast<int>(loops.output.size()) + *r;
    return std::any_of(loops.operands.begin(), loops.operands.end(), [&](const Operand& operand) {
      return operand.affine && std::abs(loops.stride(program, operand, loop)) == 1;
    });
  }
  return true;
}

std::array<int64_t, kGpuDimensions> grid_extents(const Loops& loops, const NestSchedule& stage) {
  std::array<int64_t, kGpuDimensions> result{1, 1, 1};
  const auto grid = grid_dimensions(loops, stage);
  for (size_t d = 0; d < grid.size(); ++d)
    for (const int p : grid[d]) result[d] *= blocks_of_loop(loops, stage, p);
  if (stage.parallel_reduction) result[std::min(grid.size(), kGpuDimensions - 1)] *= stage.parallel_reduction->pieces;
  return result;
}

std::array<int64_t, kGpuDimensions> block_extents(const ir::Program& program, const Loops& loops,
                                                  const NestSchedule& stage) {
  std::vector<int64_t> extents;
  for (const auto& dimension : block_dimensions(stage)) {
    extents.push_back(1);
    for (const int p : dimension) extents.back() *= threads_of_loop(stage, p);
  }
  if (const int64_t shared_by = stage.gpu().reduction_threads; shared_by > 1)
    extents.insert(shares_come_first(program, loops, stage) ? extents.begin() : extents.end(), shared_by);
  std::array<int64_t, kGpuDimensions> result{1, 1, 1};
  std::copy(extents.begin(), extents.end(), result.begin());
  return result;
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

CopyTurns copy_turns(const ir::Program& program, const Loops& loops, const NestSchedule& stage,
                     const Packing& packing) {
  constexpr int64_t kLanes = 4;
  const Operand& operand = loops.operands[packing.operand];
  const std::vector<int64_t> sides = staged_sides(loops, stage, operand);
  int64_t total = 1, neighbours = 1;
  const auto& tensor = program.tensors[operand.tensor];
  for (const int d : ir::memory_order(tensor)) {
    if (ir::extent(tensor, static_cast<size_t>(d)) <= 1) continue;
    if (neighbours == 1) neighbours = sides[d];
    total *= sides[d];
  }
  CopyTurns copy;
  copy.lanes = static_cast<int>(std::gcd(neighbours, kLanes));
  const int64_t threads = gpu_threads(stage), vectors = total / copy.lanes;
  copy.turns = (vectors + threads - 1) / threads;
  copy.exact = vectors % threads == 0;
  return copy;
}

int64_t reduction_trips(const Loops& loops, const NestSchedule& stage) {
  int64_t trips = 1;
  for (size_t r = 0; r < loops.reduction.size(); ++r)
    trips *= std::max<int64_t>(loops.reduction[r], 1) / std::max<int64_t>(stage.reduction_block[r], 1);
  return trips;
}

std::string pipeline_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage) {
  if (stage.packings.empty()) return "it loads ahead what it does not stage";
  if (reduction_trips(loops, stage) < 2) return "it stages the reduction as a whole, and has no next block to load";
  for (const auto& packing : stage.packings)
    if (const int64_t turns = copy_turns(program, loops, stage, packing).turns; turns > kMostUnrolledCopies)
      return fmt::format("a thread would hold {} copies of an operand for the next block, more than {}", turns,
                         kMostUnrolledCopies);
  return "";
}

DType staged_type(const ir::Program& program, int statement, const Operand& operand) {
  const DType type = program.tensors[operand.tensor].type;
  return type == DType::F16 && only_widened_halves(*program.statements[statement].value) ? DType::F32 : type;
}

std::vector<int64_t> stored_sides(const ir::Program& program, int statement, const Loops& loops,
                                  const NestSchedule& stage, const Packing& packing) {
  constexpr int64_t kVectorBytes = 16;
  const Operand& operand = loops.operands[packing.operand];
  const DType type = staged_type(program, statement, operand);
  // The parts of complex elements are copies of their own.
  const int64_t unit =
      std::max<int64_t>(kVectorBytes * (is_complex(type) ? 2 : 1) / static_cast<int64_t>(dtype_size(type)), 1);
  const std::vector<int64_t> sides = staged_sides(loops, stage, operand);
  std::vector<int64_t> stored;
  int64_t total = 1;
  for (const int d : packing.order) {
    stored.push_back(sides[d] + (stored.empty() ? stage.gpu().padding : 0));
    total *= stored.back();
  }
  size_t longest = 0;
  int64_t least = std::numeric_limits<int64_t>::max(), longer = 0;
  for (size_t i = 0; i < stored.size(); ++i) {
    const int64_t others = total / stored[i], step = unit / std::gcd(unit, others);
    const int64_t rounded = (stored[i] + step - 1) / step * step;
    if (rounded * others < least) least = rounded * others, longest = i, longer = rounded;
  }
  if (!stored.empty()) stored[longest] = longer;
  return stored;
}

}  // namespace tile_tune::codegen
