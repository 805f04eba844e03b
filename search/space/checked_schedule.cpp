#include "search/space/checked_schedule.h"

#include <algorithm>
#include <set>

#include "codegen/schedule/check.h"
#include "search/space/space.h"

namespace tile_tune::search {
namespace {

std::set<int> tensors_read(const ir::Statement& statement) {
  std::set<int> tensors;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) { tensors.insert(read.tensor); });
  return tensors;
}

/// nullopt: there is too little to take turns with.
std::optional<int> pieces_in_turn(const ir::Program& program, const std::set<int>& tensors, int64_t piece_bytes) {
  constexpr int64_t kMost = 1 << 20;
  int64_t bytes = 0;
  for (const int tensor : tensors)
    bytes +=
        ir::element_count(program.tensors[tensor]) * static_cast<int64_t>(dtype_size(program.tensors[tensor].type));
  if (bytes < codegen::costs::kLeastCheckedPieces * piece_bytes) return std::nullopt;
  return static_cast<int>(std::min(bytes / piece_bytes, kMost));
}

/// The checks, which are the statements from `first` on, in turn with the last statement that reads the same.
std::vector<codegen::InTurn> checks_in_turn(const ir::Program& checked, const codegen::Schedule& schedule, size_t first,
                                            int64_t piece_bytes) {
  std::vector<codegen::InTurn> result;
  const auto has_own_nest = [&](size_t s) {
    const auto& stage = schedule.stages[s];
    return stage.find_nest() && !stage.compute_at();
  };
  for (size_t s = first; s < checked.statements.size(); ++s) {
    const auto tensors = tensors_read(checked.statements[s]);
    const auto pieces = pieces_in_turn(checked, tensors, piece_bytes);
    if (!pieces || !has_own_nest(s) || !codegen::reads_inputs_alone(checked, checked.statements[s])) continue;
    for (size_t other = first; other-- > 0;) {
      const auto others = tensors_read(checked.statements[other]);
      if (!has_own_nest(other) || !std::includes(others.begin(), others.end(), tensors.begin(), tensors.end()))
        continue;
      result.push_back({static_cast<int>(s), static_cast<int>(other), *pieces});
      break;
    }
  }
  return result;
}

}  // namespace

codegen::Schedule with_index_checks(const ir::Program& checked, const codegen::Schedule& schedule,
                                    const codegen::Target& target, int64_t piece_bytes) {
  const Space space(checked, target);
  codegen::Schedule result = schedule;
  const auto by_default = space.default_schedule().stages;
  result.stages.insert(result.stages.end(), by_default.begin() + static_cast<std::ptrdiff_t>(schedule.stages.size()),
                       by_default.end());
  if (!codegen::check(checked, result)) result = space.adapt(result).schedule;
  result.in_turn = checks_in_turn(checked, result, schedule.stages.size(), piece_bytes);
  return result;
}

}  // namespace tile_tune::search
