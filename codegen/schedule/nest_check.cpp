#include "codegen/schedule/nest_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "codegen/schedule/check.h"

namespace tile_tune::codegen {
namespace {

bool is_permutation_of(std::vector<int> values, size_t count) {
  std::sort(values.begin(), values.end());
  std::vector<int> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0);
  return values == wanted;
}

}  // namespace

tl::unexpected<Diagnostic> invalid(int statement, const std::string& what) {
  return fail(ErrorClass::Program, "invalid-schedule",
              fmt::format("the schedule does not fit statement {} of this program: {}", statement, what));
}

Result<void> check_tiles(const Loops& loops, int number, const NestSchedule& stage) {
  if (stage.tiles.size() != loops.output.size()) return invalid(number, "it tiles another number of output loops");
  const size_t levels = stage.order.size();
  if (levels < 1 || levels > 4) return invalid(number, "it needs one to four tile levels");
  for (size_t p = 0; p < stage.tiles.size(); ++p) {
    if (stage.tiles[p].size() != levels)
      return invalid(number, fmt::format("loop {} has another number of tile levels", p));
    int64_t outer = std::max<int64_t>(loops.output[p], 1);
    for (size_t l = 0; l < levels; ++l) {
      const int64_t tile = stage.tiles[p][l];
      if (tile < 1 || tile > outer || (l > 0 && outer % tile != 0))
        return invalid(number, fmt::format("tile {} of loop {} does not fit into {}", tile, p, outer));
      outer = tile;
    }
  }
  for (const auto& permutation : stage.order)
    if (!is_permutation_of(permutation, loops.output.size()))
      return invalid(number, "a loop order is not a permutation");
  return {};
}

Result<void> check_blocks(const Loops& loops, int number, const NestSchedule& stage) {
  const size_t count = loops.reduction.size();
  if (!is_permutation_of(stage.reduction_order, count) || stage.reduction_block.size() != count ||
      stage.reduction_unroll.size() != count)
    return invalid(number, "it has another number of reduction loops");
  for (size_t r = 0; r < count; ++r) {
    const int64_t extent = std::max<int64_t>(loops.reduction[r], 1), block = stage.reduction_block[r];
    if (block < 1 || block > extent)
      return invalid(number, fmt::format("block {} is none of reduction loop {} of {}", block, r, extent));
    if (extent % block != 0 && (stage.is_gpu() || stage.dot_product))
      return invalid(number, fmt::format("block {} does not divide reduction loop {} of {}", block, r, extent));
    constexpr int64_t kMostIterations = std::numeric_limits<int32_t>::max();  // Halide counts in 32 bits
    if (block_count(loops, stage, static_cast<int>(r)) * block > kMostIterations)
      return invalid(number, fmt::format("the last block of reduction loop {} begins too far on", r));
  }
  return {};
}

Result<void> check_packings(const Loops& loops, int number, const NestSchedule& stage) {
  std::vector<bool> seen(loops.operands.size(), false);
  for (const auto& packing : stage.packings) {
    if (packing.operand < 0 || packing.operand >= static_cast<int>(loops.operands.size()) || seen[packing.operand])
      return invalid(number, "it packs an operand twice or one that is not there");
    seen[packing.operand] = true;
    const auto& operand = loops.operands[packing.operand];
    if (!operand.affine) return invalid(number, "it packs an operand that is gathered");
    if (!is_permutation_of(packing.order, operand.subscripts.size()))
      return invalid(number, "the storage order of a packed operand is not a permutation of its dimensions");
  }
  return {};
}

int most_pieces(const Loops& loops, DType accumulator, const NestSchedule& stage) {
  constexpr double kMostBytes = 0x7fffffff;
  double bytes = static_cast<double>(dtype_size(accumulator));
  for (const int64_t extent : loops.output) bytes *= static_cast<double>(std::max<int64_t>(extent, 1));
  const int most = stage.is_gpu() ? kMostGpuPieces : kMostPieces;
  return static_cast<int>(std::min<double>(most, kMostBytes / bytes));
}

Result<void> check_pieces(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage) {
  if (!stage.parallel_reduction) return {};
  const auto [loop, pieces] = *stage.parallel_reduction;
  if (loop < 0 || loop >= static_cast<int>(loops.reduction.size()) || pieces < 2 ||
      pieces > most_pieces(loops, program.statements[number].accumulator, stage) || loops.reduction[loop] < pieces ||
      left_over(loops, stage) > most_left_over(stage.is_gpu()))
    return invalid(number, "it cuts a reduction into pieces that do not fit");
  if (!loops.direct || stage.compute_at)
    return invalid(number, "it runs a reduction in parallel where that is impossible");
  return {};
}

}  // namespace tile_tune::codegen
