#include "codegen/schedule/loops.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "frontend/ir/gather.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

int statement_index(const Loops& loops, int loop) {
  const int outputs = static_cast<int>(loops.output.size());
  return loop < outputs ? loops.output_index[loop] : loops.reduction_index[loop - outputs];
}

}  // namespace

int64_t Loops::stride(const ir::Program& program, const Operand& operand, int loop) const {
  const auto by_dimension = ir::strides(program.tensors[operand.tensor]);
  const int index = statement_index(*this, loop);
  int64_t result = 0;
  for (size_t d = 0; d < operand.subscripts.size(); ++d)
    if (const auto* affine = std::get_if<ir::AffineExpr>(&operand.subscripts[d]))
      result += affine->coefficient(index) * by_dimension[d];
  return result;
}

int Loops::first_like(int operand) const {
  const auto is_same = [](const ir::Subscript& a, const ir::Subscript& b) {
    const auto *x = std::get_if<ir::AffineExpr>(&a), *y = std::get_if<ir::AffineExpr>(&b);
    return x && y && x->terms == y->terms && x->denominator == y->denominator && x->constant.constant() &&
           x->constant.constant() == y->constant.constant();
  };
  const auto reads_the_same = [&](const Operand& other) {
    return other.tensor == operands[operand].tensor &&
           std::equal(other.subscripts.begin(), other.subscripts.end(), operands[operand].subscripts.begin(),
                      operands[operand].subscripts.end(), is_same);
  };
  const auto first = std::find_if(operands.begin(), operands.begin() + operand, reads_the_same);
  return static_cast<int>(first - operands.begin());
}

const Packing* copy_read_by(const Loops& loops, const NestSchedule& stage, int operand) {
  const auto find = [&](const auto& is_it) {
    const auto found = std::find_if(stage.packings.begin(), stage.packings.end(), is_it);
    return found == stage.packings.end() ? nullptr : &*found;
  };
  if (const auto* own = find([&](const Packing& one) { return one.operand == operand; })) return own;
  const int first = loops.first_like(operand);
  return find([&](const Packing& one) { return loops.first_like(one.operand) == first; });
}

bool Loops::is_walked(const Operand& operand, int loop) const {
  const int index = statement_index(*this, loop);
  return std::any_of(operand.subscripts.begin(), operand.subscripts.end(), [&](const ir::Subscript& subscript) {
    const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
    return affine && affine->coefficient(index) != 0;
  });
}

int64_t Loops::span(const ir::AffineExpr& subscript, const std::vector<int64_t>& tile) const {
  int64_t span = 1;
  for (int loop = 0; loop < loop_count(); ++loop)
    span += std::abs(subscript.coefficient(statement_index(*this, loop))) * (std::max<int64_t>(tile[loop], 1) - 1);
  return span;
}

double Loops::footprint(const ir::Program& program, const Operand& operand, const std::vector<int64_t>& tile) const {
  const auto& tensor = program.tensors[operand.tensor];
  const auto extents = ir::shape(tensor);
  const auto& given = tensor.storage.strides();
  double elements = 1;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    if (!given.empty() && given[d] == ir::Stride{0}) continue;
    const auto* affine = std::get_if<ir::AffineExpr>(&operand.subscripts[d]);
    if (!affine) {
      elements *= static_cast<double>(extents[d]);
      continue;
    }
    elements *= static_cast<double>(std::min(span(*affine, tile), std::max<int64_t>(extents[d], 1)));
  }
  return elements;
}

Loops loops_of(const ir::Program& program, const ir::Statement& statement) {
  Loops loops;
  const auto& target = program.tensors[statement.target];
  loops.direct = ir::is_plain(statement);
  for (size_t d = 0; d < statement.subscripts.size(); ++d) {
    const auto& subscript = statement.subscripts[d];
    for (const auto& term : subscript.terms) {
      const int index = term.first;
      if (std::find(loops.output_index.begin(), loops.output_index.end(), index) != loops.output_index.end()) continue;
      const auto range = ir::range(statement.indices[index]);
      loops.output_index.push_back(index);
      loops.output.push_back(loops.direct ? ir::extent(target, d) : range.extent());
      loops.first.push_back(loops.direct ? -subscript.constant.constant().value() : range.lo);
    }
  }
  for (const int index : statement.reduction_indices()) {
    loops.reduction.push_back(ir::range(statement.indices[index]).extent());
    loops.reduction_index.push_back(index);
  }
  ir::for_each_read(*statement.value, [&](const ir::Read& read) {
    Operand operand{static_cast<int>(loops.operands.size()), read.tensor, read.subscripts, true};
    operand.affine = std::all_of(read.subscripts.begin(), read.subscripts.end(),
                                 [](const ir::Subscript& s) { return std::holds_alternative<ir::AffineExpr>(s); });
    loops.operands.push_back(std::move(operand));
  });
  return loops;
}

Loops one_piece(Loops loops, const NestSchedule& stage) {
  if (stage.scan) loops.reduction.assign(loops.reduction.size(), 1);
  if (stage.parallel_reduction) loops.reduction[stage.parallel_reduction->loop] /= stage.parallel_reduction->pieces;
  return loops;
}

int64_t left_over(const Loops& loops, const NestSchedule& stage) {
  if (!stage.parallel_reduction) return 0;
  const auto [loop, pieces] = *stage.parallel_reduction;
  int64_t iterations = loops.reduction[static_cast<size_t>(loop)] % pieces;
  for (size_t r = 0; r < loops.reduction.size(); ++r)
    if (static_cast<int>(r) != loop) iterations *= loops.reduction[r];
  return iterations;
}

int64_t most_unrolled(int64_t extent, int64_t block) { return std::gcd(block, extent % block); }

bool may_leave_some(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage, int r) {
  return !stage.is_gpu() && r == stage.reduction_order.back() && stage.reduction_block[r] == loops.reduction[r] &&
         stage.cpu().vector_loop < static_cast<int>(loops.output.size()) && stage.partial_sums == 0 &&
         !stage.dot_product && !stage.scan && !takes_pairs(statement);
}

int64_t block_count(const Loops& loops, const NestSchedule& stage, int r) {
  const int64_t block = stage.reduction_block[static_cast<size_t>(r)];
  return (std::max<int64_t>(loops.reduction[static_cast<size_t>(r)], 1) + block - 1) / block;
}

int64_t output_stride(const ir::Program& program, const ir::Statement& statement, const Loops& loops, int p) {
  const auto& target = program.tensors[statement.target];
  if (loops.direct) return ir::strides(target)[p];
  int64_t stride = 1;
  for (const int faster : target.storage.order(loops.output.size())) {
    if (faster == p) break;
    stride *= std::max<int64_t>(loops.output[faster], 1);
  }
  return stride;
}

ir::Range written_positions(const ir::Statement& statement, const Loops& loops, int p) {
  const auto range = ir::range(statement.indices[loops.output_index[p]]);
  return {range.lo - loops.first[p], range.hi - loops.first[p]};
}

bool writes_all_of(const ir::Statement& statement, const Loops& loops, int p) {
  const auto written = written_positions(statement, loops, p);
  return written.lo <= 0 && written.hi >= loops.output[p];
}

bool slides(const Loops& loops, const Operand& operand, int r) {
  return std::any_of(operand.subscripts.begin(), operand.subscripts.end(), [&](const ir::Subscript& subscript) {
    const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
    return affine && affine->coefficient(loops.reduction_index[r]) != 0 &&
           std::any_of(loops.output_index.begin(), loops.output_index.end(),
                       [&](int index) { return affine->coefficient(index) != 0; });
  });
}

bool is_window(const Loops& loops, int r) {
  return std::any_of(loops.operands.begin(), loops.operands.end(),
                     [&](const Operand& operand) { return slides(loops, operand, r); });
}

bool takes_pairs(const ir::Statement& statement) {
  return (statement.op == ir::Aggregation::Min || statement.op == ir::Aggregation::Max) &&
         is_float(statement.accumulator) && statement.constraints.empty();
}

bool is_blocked(const Loops& loops, const NestSchedule& stage) {
  for (size_t r = 0; r < stage.reduction_block.size(); ++r)
    if (stage.reduction_block[r] < loops.reduction[r]) return true;
  return false;
}

int contiguous_loop(const ir::Program& program, const ir::Statement& statement, const Loops& loops) {
  for (size_t p = 0; p < loops.output.size(); ++p)
    if (loops.output[p] > 1 && output_stride(program, statement, loops, static_cast<int>(p)) == 1)
      return static_cast<int>(p);
  return -1;
}

bool has_home(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
              const NestSchedule& stage) {
  if (stage.is_gpu() || loops.reduction.empty() || stage.scan || stage.partial_sums > 0) return false;
  if (is_blocked(loops, stage)) return true;
  // Fewer neighbours are stored about as fast one by one.
  constexpr int64_t kFewest = 4;
  const int across = contiguous_loop(program, statement, loops);
  return stage.order.size() > 1 && stage.cpu().lanes > 1 &&
         stage.cpu().vector_loop < static_cast<int>(loops.output.size()) && !stage.parallel_reduction && across >= 0 &&
         across != stage.cpu().vector_loop && stage.tiles[across].front() >= kFewest;
}

bool updates_in_place(const ir::Program& program, const ir::Statement& statement) {
  return statement.previous && program.tensors[*statement.previous].role == ir::Role::InOut &&
         program.tensors[statement.target].role == ir::Role::Output;
}

bool stays_inside(const ir::Statement& statement, const ir::AffineExpr& subscript, int64_t extent) {
  __int128 low = subscript.constant.constant().value(), high = low;
  for (const auto& [index, coefficient] : subscript.terms) {
    const auto range = ir::range(statement.indices[index]);
    if (range.extent() == 0) return true;
    const __int128 first = __int128{coefficient} * range.lo, last = __int128{coefficient} * (range.hi - 1);
    low += std::min(first, last);
    high += std::max(first, last);
  }
  return low >= 0 && high < extent;
}

bool takes_up(const ir::Statement& statement, int tensor) {
  bool found = statement.previous == tensor || statement.unwritten == tensor;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

int inline_consumer(const ir::Program& program, int number) {
  const auto& statement = program.statements[number];
  if (program.tensors[statement.target].role != ir::Role::Temporary || statement.previous ||
      !statement.reduction_indices().empty())
    return -1;
  int consumer = -1;
  for (size_t s = number + 1; s < program.statements.size(); ++s) {
    if (!takes_up(program.statements[s], statement.target)) continue;
    if (consumer >= 0) return -1;
    consumer = static_cast<int>(s);
  }
  return consumer;
}

}  // namespace tile_tune::codegen
