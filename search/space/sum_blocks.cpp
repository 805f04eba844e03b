#include "search/space/sum_blocks.h"

#include <algorithm>

#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Operand;

// Of the first cache, beside which the home's tiles pass by.
constexpr double kBlocksShare = 0.5;

// Bytes of the lines of what so many iterations of each loop read, that begin anywhere; a copy's are next to each
// other.
double bytes_in_lines(const StageContext& context, const NestSchedule& stage, const Operand& operand,
                      const std::vector<int64_t>& extents) {
  const double bytes = context.bytes(operand, extents);
  if (operand.subscripts.empty() || codegen::copy_read_by(context.loops, stage, operand.number) != nullptr)
    return bytes;
  const auto& tensor = context.program->tensors[operand.tensor];
  const int along = ir::memory_order(tensor).front();
  const double size = static_cast<double>(dtype_size(tensor.type)), line = codegen::kLineBytes;
  const double run =
      size * static_cast<double>(context.loops.span(std::get<ir::AffineExpr>(operand.subscripts[along]), extents));
  return bytes / run * (run + line - size);
}

}  // namespace

// 3 x 3 x 3 windows of 2 x 61 x 32 x 32 x 31, whose 24 x 4 results read 158 KB of weights and 976 lines for each step
// along rows, took 153 ms as a whole and 80 to 106 in blocks of one to four channels. 37 drawn windows so changed were
// 0.93 to 2.13 times as fast, 1.17 on average, 92 sums without windows 0.77 to 1.46, 1.00, which stay as they are (AVX2
// on two Zen 3 cores, 2026-11-30).
void sum_in_blocks(const TileLayout& layout, NestSchedule& stage) {
  // The first one reads all from the second cache: seven homes of two and three tiles were 0.52 to 1.31 times as fast.
  constexpr int64_t kLeastTiles = 4;
  const auto& context = layout.context;
  const auto& loops = context.loops;
  const auto& order = stage.reduction_order;
  if (stage.order.size() < 2 || keeps_order(context) || iterations_in_lane(context) > 1 || !loops.direct ||
      std::none_of(order.begin(), order.end(), [&](int r) { return codegen::is_window(loops, r); }))
    return;
  std::vector<int64_t> extents;
  int64_t tiles = 1, steps = 1;
  for (const auto& sizes : stage.tiles) {
    extents.push_back(sizes.back());
    tiles *= (sizes.front() + sizes.back() - 1) / sizes.back();
  }
  for (const int64_t block : stage.reduction_block) {
    extents.push_back(block);
    steps *= block;
  }
  const auto bytes_read = [&] {
    double bytes = 0;
    for (const Operand& operand : loops.operands)
      if (operand.affine) bytes += bytes_in_lines(context, stage, operand, extents);
    return bytes;
  };
  const int outermost = order.front();
  int64_t& block = extents[context.outputs() + outermost];
  const auto l1 = static_cast<double>(context.target->l1_bytes);
  if (tiles < kLeastTiles || bytes_read() <= l1) return;
  while (block > 1 && bytes_read() > kBlocksShare * l1) --block;
  const int64_t extent = stage.reduction_block[outermost], blocks = (extent + block - 1) / block;
  block = (extent + blocks - 1) / blocks;
  if (steps / extent * block < kLeastStepsAtHome || bytes_read() > l1) return;
  stage.reduction_block[outermost] = block;
}

}  // namespace tile_tune::search
