#include "search/space/restate.h"

#include <algorithm>
#include <numeric>

#include "codegen/schedule/loops.h"
#include "frontend/ir/form.h"
#include "search/space/group_rules.h"

namespace tile_tune::search {
namespace {

using codegen::Loops;
using codegen::NestSchedule;
using codegen::Operand;

/// One statement's loops, with the batch loops among them.
struct Nest {
  const ir::Program& program;
  const ir::Statement& statement;
  Loops loops;
  std::vector<int> kept, batches;              // output loops, ascending
  std::vector<std::vector<int>> operand_kept;  // dimensions of each operand that no batch walks, ascending
  std::vector<std::vector<int>> operand_batches;

  bool is_batch(int p) const { return std::find(batches.begin(), batches.end(), p) != batches.end(); }
  int place(int p) const { return static_cast<int>(std::find(kept.begin(), kept.end(), p) - kept.begin()); }
};

Nest nest_of(const ir::Program& program, const ir::Statement& statement, const std::vector<int>& batch_indices) {
  Nest nest{program, statement, codegen::loops_of(program, statement), {}, {}, {}, {}};
  const auto is_batch_index = [&](int index) {
    return std::find(batch_indices.begin(), batch_indices.end(), index) != batch_indices.end();
  };
  for (int p = 0; p < static_cast<int>(nest.loops.output.size()); ++p)
    (is_batch_index(nest.loops.output_index[static_cast<size_t>(p)]) ? nest.batches : nest.kept).push_back(p);
  for (const Operand& operand : nest.loops.operands) {
    nest.operand_kept.emplace_back();
    nest.operand_batches.emplace_back();
    for (size_t d = 0; d < operand.subscripts.size(); ++d) {
      const auto* affine = std::get_if<ir::AffineExpr>(&operand.subscripts[d]);
      const bool batch = affine && affine->terms.size() == 1 && is_batch_index(affine->terms.front().first);
      (batch ? nest.operand_batches : nest.operand_kept).back().push_back(static_cast<int>(d));
    }
  }
  return nest;
}

bool are_alike(const Nest& from, const Nest& to) {
  bool alike = from.kept.size() == to.kept.size() && from.loops.reduction.size() == to.loops.reduction.size() &&
               from.loops.operands.size() == to.loops.operands.size();
  for (size_t o = 0; alike && o < from.loops.operands.size(); ++o)
    alike = from.operand_kept[o].size() == to.operand_kept[o].size();
  return alike;
}

/// Batches first, then the others as they were ordered.
std::vector<int> restated_order(const Nest& from, const Nest& to, const std::vector<int>& order) {
  std::vector<int> result = to.batches;
  for (const int p : order)
    if (!from.is_batch(p)) result.push_back(to.kept[static_cast<size_t>(from.place(p))]);
  return result;
}

int kept_among(const Nest& from, const std::vector<int>& order, int count) {
  return static_cast<int>(
      std::count_if(order.begin(), order.begin() + count, [&](int p) { return !from.is_batch(p); }));
}

/// A copy stays inside the loops it was in, and inside the batches if it was inside any loop.
int restated_depth(const Nest& from, const Nest& to, const NestSchedule& stage, int depth) {
  const int outputs = static_cast<int>(from.loops.output.size());
  if (depth <= 0 || outputs == 0) return depth;
  const int level = (depth - 1) / outputs, within = depth - level * outputs;
  return level * static_cast<int>(to.loops.output.size()) + static_cast<int>(to.batches.size()) +
         kept_among(from, stage.order[static_cast<size_t>(level)], within);
}

codegen::Packing restated_packing(const Nest& from, const Nest& to, const NestSchedule& stage,
                                  const codegen::Packing& packing) {
  const auto o = static_cast<size_t>(packing.operand);
  codegen::Packing result{packing.operand, restated_depth(from, to, stage, packing.depth), {}};
  for (const int d : packing.order) {
    const auto& kept = from.operand_kept[o];
    const auto at = std::find(kept.begin(), kept.end(), d);
    if (at != kept.end()) result.order.push_back(to.operand_kept[o][static_cast<size_t>(at - kept.begin())]);
  }
  result.order.insert(result.order.end(), to.operand_batches[o].rbegin(), to.operand_batches[o].rend());
  return result;
}

/// The loop of the other nest; -1 for a batch's.
int restated_loop(const Nest& from, const Nest& to, int loop) {
  const int outputs = static_cast<int>(from.loops.output.size());
  if (loop >= outputs) return loop - outputs + static_cast<int>(to.loops.output.size());
  return loop < 0 || from.is_batch(loop) ? -1 : to.kept[static_cast<size_t>(from.place(loop))];
}

/// A vector of n times shorter elements holds n times as many.
int64_t rescaled(int64_t elements, int from_size, int to_size) {
  return std::max<int64_t>(elements * from_size / to_size, 1);
}

NestSchedule restated(const Nest& from, const Nest& to, const NestSchedule& stage) {
  NestSchedule result = stage;
  const int to_outputs = static_cast<int>(to.loops.output.size());
  const int from_size = static_cast<int>(dtype_size(from.statement.accumulator));
  const int to_size = static_cast<int>(dtype_size(to.statement.accumulator));
  result.tiles.assign(static_cast<size_t>(to_outputs), std::vector<int64_t>(stage.order.size(), 1));
  for (const int p : from.kept) {
    auto& tiles = result.tiles[static_cast<size_t>(to.kept[static_cast<size_t>(from.place(p))])];
    tiles = stage.tiles[static_cast<size_t>(p)];
    if (p == stage.cpu().vector_loop)
      for (auto& tile : tiles) tile = rescaled(tile, from_size, to_size);
  }
  for (size_t level = 0; level < stage.order.size(); ++level)
    result.order[level] = restated_order(from, to, stage.order[level]);
  result.cpu().parallel = static_cast<int>(to.batches.size()) +
                          (stage.order.empty() ? 0 : kept_among(from, stage.order[0], stage.cpu().parallel));
  result.cpu().lanes = static_cast<int>(rescaled(stage.cpu().lanes, from_size, to_size));
  result.cpu().vector_loop = restated_loop(from, to, stage.cpu().vector_loop);
  if (result.cpu().vector_loop < 0) result.cpu().lanes = 1;
  for (auto& packing : result.packings) packing = restated_packing(from, to, stage, packing);
  for (const GroupRules& rules : group_rules())
    if (rules.restate) rules.restate(result, [&](int loop) { return restated_loop(from, to, loop); });
  return result;
}

}  // namespace

std::optional<codegen::Schedule> restate(const ir::Program& from, const codegen::Schedule& schedule,
                                         const ir::Program& to) {
  if (from.statements.size() != to.statements.size() || schedule.stages.size() != to.statements.size())
    return std::nullopt;
  const auto from_batches = ir::batch_indices(from), to_batches = ir::batch_indices(to);
  codegen::Schedule result = schedule;
  for (size_t s = 0; s < to.statements.size(); ++s) {
    const Nest a = nest_of(from, from.statements[s], from_batches), b = nest_of(to, to.statements[s], to_batches);
    if (!are_alike(a, b)) return std::nullopt;
    if (const auto* nest = schedule.stages[s].find_nest()) result.stages[s] = restated(a, b, *nest);
  }
  return result;
}

}  // namespace tile_tune::search
