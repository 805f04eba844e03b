#include "codegen/lower/copy.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace tile_tune::codegen {

int contiguous_dimension(const ir::Tensor& tensor) {
  const auto extents = ir::shape(tensor);
  const auto distances = strides(tensor);
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > 1 && distances[d] == 1) return static_cast<int>(d);
  return 0;
}

std::vector<int64_t> sides(const Loops& loops, const Operand& operand, const std::vector<int64_t>& extents) {
  const auto outputs = loops.output_index.size();
  std::vector<int64_t> result;
  for (const auto& subscript : operand.subscripts) {
    const auto& affine = std::get<ir::AffineExpr>(subscript);
    int64_t side = 1;
    for (size_t loop = 0; loop < extents.size(); ++loop) {
      const int index = loop < outputs ? loops.output_index[loop] : loops.reduction_index[loop - outputs];
      side += std::abs(affine.coefficient(index)) * (std::max<int64_t>(extents[loop], 1) - 1);
    }
    result.push_back(side);
  }
  return result;
}

std::optional<Transposition> transposition(const PackedOperand& packed, const std::vector<int64_t>& region, int lanes) {
  constexpr int64_t kLeast = 4, kMostRows = 16;  // 16 x 16 floats fill 16 of AVX-512's 32 registers
  Transposition blocks;
  blocks.source = packed.contiguous;
  blocks.copy = packed.choice.order.front();
  if (packed.part || blocks.source == blocks.copy) return std::nullopt;
  const int64_t along = region[blocks.source], across = region[blocks.copy];
  if (along < kLeast || across < kLeast) return std::nullopt;
  blocks.exact = packed.unclamped[blocks.source] && packed.unclamped[blocks.copy];
  blocks.lanes = std::min<int64_t>(lanes, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(along))));
  if (along % blocks.lanes != 0 && along % (blocks.lanes / 2) == 0) blocks.lanes /= 2;
  const int64_t count = (across + kMostRows - 1) / kMostRows;
  blocks.rows = (across + count - 1) / count;
  return blocks;
}

std::vector<CopyLoop> in_blocks(PackedOperand& packed, const Transposition& blocks,
                                const std::vector<int64_t>& region) {
  using Halide::Var;
  const auto tail = blocks.exact ? Halide::TailStrategy::ShiftInwards : Halide::TailStrategy::GuardWithIf;
  const Var source = packed.vars[blocks.source], copy = packed.vars[blocks.copy];
  const Var lane(source.name() + "_l"), lanes(source.name() + "_b"), row(copy.name() + "_r"), rows(copy.name() + "_b");
  packed.func.split(source, lanes, lane, static_cast<int>(blocks.lanes), tail)
      .split(copy, rows, row, static_cast<int>(blocks.rows), tail)
      .vectorize(lane)
      .unroll(row);
  std::vector<CopyLoop> loops{{lane}, {row}, {lanes, region[blocks.source] / blocks.lanes}};
  for (const int d : packed.choice.order)
    if (d != blocks.source && d != blocks.copy) loops.push_back({packed.vars[d], region[d]});
  loops.push_back({rows, region[blocks.copy] / blocks.rows});
  return loops;
}

}  // namespace tile_tune::codegen
