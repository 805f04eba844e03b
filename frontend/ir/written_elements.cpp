#include "frontend/ir/written_elements.h"

#include <algorithm>
#include <set>

#include "frontend/ir/domain.h"
#include "frontend/ir/requirement.h"

namespace tile_tune::ir {
namespace {

Extremes extremes_over_box(const Statement& statement, const AffineExpr& subscript) {
  Extremes values{subscript.constant, subscript.constant};
  for (const auto& [number, factor] : subscript.terms) {
    const auto& index = statement.indices[static_cast<size_t>(number)];
    const auto first = index.lo * factor, last = (index.hi - 1) * factor;
    values.least = values.least + (factor > 0 ? first : last);
    values.most = values.most + (factor > 0 ? last : first);
  }
  if (subscript.denominator == 1) return values;
  return {SizeExpr::ceil_div(values.least, subscript.denominator),
          SizeExpr::floor_div(values.most, subscript.denominator)};
}

}  // namespace

std::vector<int> shared_reduction_indices(const Program& program, const Statement& statement) {
  if (statement.op == Aggregation::Assign || !program.is_bound()) return {};
  return shared_indices(program, statement).value_or(std::vector<int>{});
}

std::vector<bool> combined_indices(const Program& program, const Statement& statement) {
  std::vector<bool> combined(statement.indices.size());
  for (const int index : statement.reduction_indices()) combined[static_cast<size_t>(index)] = true;
  for (const int index : shared_reduction_indices(program, statement)) combined[static_cast<size_t>(index)] = true;
  return combined;
}

bool writes_every_element(const Program& program, const Statement& statement) {
  if (program.is_bound() && writes_all(program, statement)) return true;
  const auto& extents = program.tensors[static_cast<size_t>(statement.target)].extents;
  std::set<int> used;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto& subscript = statement.subscripts[d];
    const bool plain = subscript.terms.size() == 1 && subscript.terms[0].second == 1 && subscript.denominator == 1 &&
                       subscript.constant.constant() == 0 && used.insert(subscript.terms[0].first).second;
    if (!plain) return false;
    const auto& index = statement.indices[static_cast<size_t>(subscript.terms[0].first)];
    if (index.lo.constant() != 0 || !(index.hi == extents[d])) return false;
  }
  return constraints_on_indices(statement).empty();
}

Result<std::optional<Extremes>> extremes(const Program& program, const Statement& statement,
                                         const AffineExpr& subscript) {
  const bool runs = std::all_of(statement.indices.begin(), statement.indices.end(),
                                [&](const Index& index) { return program.is_bound() && range(index).extent() > 0; });
  if (!runs) {
    if (!constraints_on_indices(statement).empty()) return std::nullopt;
    return extremes_over_box(statement, subscript);
  }
  TILE_TUNE_TRY(values, value_range(statement, subscript));
  if (values.extent() == 0) return std::nullopt;
  return Extremes{values.lo, values.hi - 1};
}

}  // namespace tile_tune::ir
