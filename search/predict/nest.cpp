#include "search/predict/nest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "codegen/schedule/partial_sums.h"
#include "codegen/target/target.h"
#include "frontend/ir/storage.h"

namespace tile_tune::predict {
namespace {

using codegen::Loops;
using codegen::NestSchedule;
using codegen::Operand;

int64_t around(int64_t extent) { return std::max<int64_t>(extent, 1); }

double steps(int64_t extent, int64_t step) {
  return std::ceil(static_cast<double>(around(extent)) / static_cast<double>(around(step)));
}

/// Elements from the first to the last along one dimension.
int64_t span(const Loops& loops, const ir::AffineExpr& subscript, const std::vector<int64_t>& tile) {
  const int outputs = static_cast<int>(loops.output.size());
  int64_t span = 1;
  for (int loop = 0; loop < loops.loop_count(); ++loop) {
    const int index = loop < outputs ? loops.output_index[loop] : loops.reduction_index[loop - outputs];
    span += std::abs(subscript.coefficient(index)) * (tile[loop] - 1);
  }
  return span;
}

double bytes_in_lines(const std::vector<int64_t>& spans, size_t innermost, int64_t element) {
  double rows = 1;
  for (size_t d = 0; d < spans.size(); ++d)
    if (d != innermost) rows *= static_cast<double>(spans[d]);
  const int64_t row = spans.empty() ? element : spans[innermost] * element;
  const int64_t lines = (row + codegen::kLineBytes - 1) / codegen::kLineBytes;
  return rows * static_cast<double>(lines * codegen::kLineBytes);
}

size_t contiguous_dimension(const ir::Tensor& tensor) {
  return tensor.extents.empty() ? 0 : static_cast<size_t>(ir::memory_order(tensor).front());
}

}  // namespace

double Nest::runs(size_t d) const {
  double runs = 1;
  for (size_t l = 0; l < d; ++l) runs *= loops[l].trips;
  return runs;
}

Nest nest_of(const Loops& loops, const NestSchedule& stage, bool home) {
  const int outputs = static_cast<int>(loops.output.size());
  Nest nest;
  std::vector<int64_t> inside;
  for (const int64_t extent : loops.output) inside.push_back(around(extent));
  for (const int64_t extent : loops.reduction) inside.push_back(around(extent));
  nest.inner.push_back(inside);
  const auto enter = [&](int loop, int64_t step, bool tiles) {
    nest.loops.push_back({loop, steps(inside[loop], step), tiles});
    inside[loop] = std::min(inside[loop], around(step));
    nest.inner.push_back(inside);
  };
  nest.home = home;
  nest.at_depth.push_back(0);
  for (size_t level = 0; level < stage.order.size(); ++level) {
    for (const int p : stage.order[level]) {
      enter(p, stage.tiles[p][level], true);
      nest.at_depth.push_back(static_cast<int>(nest.loops.size()));
    }
    if (level > 0 || !codegen::is_blocked(loops, stage)) continue;
    // Blocks of a reduction run inside the outermost tiles, whose sums stay at home meanwhile.
    for (const int r : stage.reduction_order) {
      const int64_t count = codegen::block_count(loops, stage, r);  // the last is shorter
      enter(outputs + r, (around(loops.reduction[r]) + count - 1) / count, false);
    }
    nest.at_depth.back() = static_cast<int>(nest.loops.size());
  }
  for (const int r : stage.reduction_order) {
    const bool in_lanes = stage.cpu().vector_loop == outputs + r;
    const int pair = stage.dot_product ? 2 : 1;  // in lanes dot products are of two
    const bool takes_turns = stage.partial_sums > 0 && r == codegen::loop_of_turns(loops, stage);
    enter(outputs + r,
          int64_t{stage.reduction_unroll[r]} * (in_lanes      ? stage.cpu().lanes * pair
                                                : takes_turns ? stage.partial_sums
                                                              : 1),
          false);
  }
  return nest;
}

double line_bytes(const ir::Program& program, const Loops& loops, const Operand& operand,
                  const std::vector<int64_t>& tile, const std::vector<int>* packed) {
  const auto& tensor = program.tensors[operand.tensor];
  std::vector<int64_t> spans;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    const int64_t extent = around(ir::extent(tensor, d));
    const auto* affine = std::get_if<ir::AffineExpr>(&operand.subscripts[d]);
    spans.push_back(affine ? std::min(span(loops, *affine, tile), extent) : extent);
  }
  const bool copied = packed && !packed->empty();
  const size_t innermost = copied ? static_cast<size_t>(packed->front()) : contiguous_dimension(tensor);
  return bytes_in_lines(spans, innermost, static_cast<int64_t>(dtype_size(tensor.type)));
}

double output_bytes(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
                    const std::vector<int64_t>& tile, int64_t element_bytes) {
  std::vector<int64_t> spans(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(loops.output.size()));
  size_t innermost = 0;
  for (size_t p = 0; p < spans.size(); ++p)
    if (codegen::output_stride(program, statement, loops, static_cast<int>(p)) == 1) innermost = p;
  return bytes_in_lines(spans, innermost, element_bytes);
}

}  // namespace tile_tune::predict
