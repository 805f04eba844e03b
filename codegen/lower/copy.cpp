#include "codegen/lower/copy.h"

#include <algorithm>
#include <bit>

#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {

std::vector<int> dimensions_in_memory(const ir::Tensor& tensor) {
  const auto extents = ir::shape(tensor);
  std::vector<int> result;
  for (const int d : ir::memory_order(tensor))
    if (extents[d] > 1) result.push_back(d);
  return result;
}

std::vector<int64_t> sides(const Loops& loops, const Operand& operand, const std::vector<int64_t>& extents) {
  std::vector<int64_t> result;
  for (const auto& subscript : operand.subscripts)
    result.push_back(loops.span(std::get<ir::AffineExpr>(subscript), extents));
  return result;
}

namespace {

// Of a copy for dot products, whose source lies along the reduction: the iterations of each are one element of 4 bytes,
// here as there.
std::optional<Transposition> transposed_groups(const PackedOperand& packed, const std::vector<int64_t>& region,
                                               int lanes) {
  const DotProduct& dot = *packed.dot;
  const int along = packed.in_memory.front(), across = packed.choice.order.front();
  const int64_t groups = region[along] / dot.width;
  if (dot.widened || along != dot.dimension || region[along] % dot.width != 0 || !packed.unclamped[along] ||
      !packed.unclamped[across] || groups < costs::kLeastTransposed || region[across] < costs::kLeastTransposed)
    return std::nullopt;
  Transposition blocks;
  blocks.copy = across;
  blocks.source = {along};
  const auto fitting = [](int64_t most, int64_t extent) {
    return std::min<int64_t>(most, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(extent))));
  };
  blocks.lanes = fitting(lanes / dot.width, groups);
  blocks.rows = fitting(costs::kMostTransposedRows, region[across]);
  return blocks;
}

}  // namespace

std::optional<Transposition> transposition(const PackedOperand& packed, const std::vector<int64_t>& region, int lanes) {
  Transposition blocks;
  blocks.copy = packed.choice.order.front();
  if (lanes < 2 || packed.in_memory.empty() || packed.in_memory.front() == blocks.copy) return std::nullopt;
  if (packed.part) return transposed_groups(packed, region, lanes);
  int64_t along = 1;
  auto next = packed.choice.order.begin() + 1;
  for (const int d : packed.in_memory) {
    while (next != packed.choice.order.end() && packed.extents[*next] == 1) ++next;
    const bool same = next != packed.choice.order.end() && *next++ == d;
    // The width of a part that a border cuts short is known to Halide of a loop of its own only: fused, it would be
    // taken to be as wide as the tensor wherever it starts.
    if (!blocks.source.empty() && (!same || !packed.unclamped[d])) break;
    blocks.source.push_back(d);
    blocks.exact = blocks.exact && packed.unclamped[d];
    along *= region[d];
    if (!same || !packed.unclamped[d] || region[d] != packed.extents[d]) break;
  }
  const int64_t across = region[blocks.copy];
  if (along < costs::kLeastTransposed || across < costs::kLeastTransposed) return std::nullopt;
  blocks.exact = blocks.exact && packed.unclamped[blocks.copy];
  blocks.lanes = std::min<int64_t>(lanes, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(along))));
  // A split by 1 Halide does not clamp: its bounds then reach beyond the tensor.
  if (blocks.lanes > 2 && along % blocks.lanes != 0 && along % (blocks.lanes / 2) == 0) blocks.lanes /= 2;
  // The compiler makes vectors of stores that are a power of two: where the last block may overlap the one before it,
  // 26 rows are 16 and 16, not 13 and 13, whose scattered rest cost 500 products 26x72x26 a quarter of their time (Zen
  // 4).
  if (blocks.exact) {
    blocks.rows = std::min<int64_t>(costs::kMostTransposedRows,
                                    static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(across))));
  } else {
    const int64_t count = (across + costs::kMostTransposedRows - 1) / costs::kMostTransposedRows;
    blocks.rows = (across + count - 1) / count;
  }
  return blocks;
}

std::vector<CopyLoop> in_blocks(const PackedOperand& packed, const Transposition& blocks,
                                const std::vector<int64_t>& region) {
  using Halide::Var;
  Halide::Func func = packed.func;
  const auto tail = blocks.exact ? Halide::TailStrategy::ShiftInwards : Halide::TailStrategy::GuardWithIf;
  Var source = packed.vars[blocks.source.front()];
  int64_t along = region[blocks.source.front()] / (packed.part ? packed.dot->width : 1);
  for (size_t i = 1; i < blocks.source.size(); ++i) {
    const int inner = blocks.source[i - 1], outer = blocks.source[i];
    func.bound_extent(packed.vars[inner], static_cast<int>(region[inner]));
    // With an extent that Halide finds no number for, where the region begins and ends are as far apart as they ever
    // are for its check of what is read, and the kernel fails it.
    if (packed.unclamped[outer]) func.bound_extent(packed.vars[outer], static_cast<int>(region[outer]));
    const Var both(packed.vars[outer].name() + "_f");
    func.fuse(source, packed.vars[outer], both);
    source = both;
    along *= region[outer];
  }
  const Var copy = packed.vars[blocks.copy];
  const Var lane(source.name() + "_l"), lanes(source.name() + "_b"), row(copy.name() + "_r"), rows(copy.name() + "_b");
  func.split(source, lanes, lane, static_cast<int>(blocks.lanes), tail)
      .split(copy, rows, row, static_cast<int>(blocks.rows), tail)
      .vectorize(lane)
      .unroll(row);
  std::vector<CopyLoop> loops{{lane}, {row}, {lanes, along / blocks.lanes}};
  if (packed.part) {
    func.unroll(*packed.part);
    loops.insert(loops.begin() + 1, {*packed.part});
  }
  for (const int d : packed.choice.order)
    if (d != blocks.copy && std::find(blocks.source.begin(), blocks.source.end(), d) == blocks.source.end())
      loops.push_back({packed.vars[d], region[d]});
  loops.push_back({rows, region[blocks.copy] / blocks.rows});
  return loops;
}

}  // namespace tile_tune::codegen
