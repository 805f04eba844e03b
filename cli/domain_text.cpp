#include "cli/domain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/table.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/requirement.h"

namespace tile_tune::cli {

namespace {

std::string role_of_reduction(const ir::Statement& statement) {
  switch (statement.op) {
    case ir::Aggregation::Sum:
      return "summed";
    case ir::Aggregation::Product:
      return "multiplied";
    case ir::Aggregation::Min:
      return "minimum";
    case ir::Aggregation::Max:
      return "maximum";
    case ir::Aggregation::Assign:
      break;
  }
  return "";
}

std::string names_of(const ir::Statement& statement, const std::vector<int>& indices) {
  std::vector<std::string> names;
  for (const int index : indices) names.push_back(statement.indices[static_cast<size_t>(index)].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Indices that an element of the target does not tell though its subscripts use them (ir::shared_indices); of symbolic
/// sizes nothing is known.
std::vector<int> shared_of(const ir::Program& program, const ir::Statement& statement) {
  if (statement.op == ir::Aggregation::Assign || !program.is_bound()) return {};
  return ir::shared_indices(program, statement).value_or(std::vector<int>{});
}

/// By index: whether values over it are combined.
std::vector<bool> combined_indices(const ir::Program& program, const ir::Statement& statement) {
  std::vector<bool> combined(statement.indices.size());
  for (const int index : statement.reduction_indices()) combined[static_cast<size_t>(index)] = true;
  for (const int index : shared_of(program, statement)) combined[static_cast<size_t>(index)] = true;
  return combined;
}

/// Smallest and largest value of a subscript over the box of the ranges.
struct Values {
  ir::SizeExpr least, most;
};
Values values_over_box(const ir::Statement& statement, const ir::AffineExpr& subscript) {
  Values values{subscript.constant, subscript.constant};
  for (const auto& [number, factor] : subscript.terms) {
    const auto& index = statement.indices[static_cast<size_t>(number)];
    const auto first = index.lo * factor, last = (index.hi - 1) * factor;
    values.least = values.least + (factor > 0 ? first : last);
    values.most = values.most + (factor > 0 ? last : first);
  }
  if (subscript.denominator == 1) return values;
  return {ir::SizeExpr::ceil_div(values.least, subscript.denominator),
          ir::SizeExpr::floor_div(values.most, subscript.denominator)};
}

/// ... over the domain; nullopt where that has no points, or constraints are between symbolic sizes.
Result<std::optional<Values>> values_of(const ir::Program& program, const ir::Statement& statement,
                                        const ir::AffineExpr& subscript) {
  const bool runs = std::all_of(statement.indices.begin(), statement.indices.end(), [&](const ir::Index& index) {
    return program.is_bound() && ir::range(index).extent() > 0;
  });
  if (!runs) {
    if (!ir::constraints_on_indices(statement).empty()) return std::nullopt;
    return values_over_box(statement, subscript);
  }
  TILE_TUNE_TRY(range, ir::value_range(statement, subscript));
  if (range.extent() == 0) return std::nullopt;
  return Values{range.lo, range.hi - 1};
}

/// Where sizes are open: each dimension is walked by an index of its own, from end to end, and nothing is left out.
bool writes_every_element(const ir::Program& program, const ir::Statement& statement) {
  if (program.is_bound() && ir::writes_all(program, statement)) return true;
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
  return ir::constraints_on_indices(statement).empty();
}

std::string others_text(const ir::Program& program, const ir::Statement& statement) {
  const auto name = [&](int number) { return program.tensors[static_cast<size_t>(number)].name; };
  if (statement.previous) return fmt::format("the others keep the value of {}", name(*statement.previous));
  if (statement.unwritten) return fmt::format("the others are those of {}", name(*statement.unwritten));
  return "the others are 0";
}

}  // namespace

std::string indices_text(const ir::Program& program, const ir::Statement& statement, int indent) {
  const auto combined = combined_indices(program, statement);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto& index = statement.indices[i];
    rows.push_back({index.name, fmt::format("[{}, {})", index.lo.str(), index.hi.str()),
                    combined[i] ? role_of_reduction(statement) : "", index.reason});
  }
  if (rows.empty()) return "";
  if (std::find(combined.begin(), combined.end(), true) != combined.end())
    return format_table({{"index"}, {"range"}, {"reduced"}, {"bounded by"}}, rows, indent);
  for (auto& row : rows) row.erase(row.begin() + 2);
  return format_table({{"index"}, {"range"}, {"bounded by"}}, rows, indent);
}

nlohmann::json size_json(const ir::SizeExpr& size) {
  if (const auto number = size.constant()) return *number;
  return size.str();
}

nlohmann::json indices_json(const ir::Program& program, const ir::Statement& statement) {
  const auto combined = combined_indices(program, statement);
  nlohmann::json indices = nlohmann::json::array();
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto& index = statement.indices[i];
    indices.push_back({{"name", index.name},
                       {"lo", size_json(index.lo)},
                       {"hi", size_json(index.hi)},
                       {"reduction", static_cast<bool>(combined[i])},
                       {"bounded_by", index.reason}});
  }
  return indices;
}

std::string combines_text(const ir::Program& program, const ir::Statement& statement) {
  const auto reductions = statement.reduction_indices(), shared = shared_of(program, statement);
  if (reductions.empty() && shared.empty()) return "";
  const char* what = statement.op == ir::Aggregation::Sum       ? "sums"
                     : statement.op == ir::Aggregation::Product ? "multiplies"
                     : statement.op == ir::Aggregation::Min     ? "takes the smallest of"
                                                                : "takes the largest of";
  std::vector<std::string> over;
  if (!reductions.empty()) over.push_back(names_of(statement, reductions));
  if (!shared.empty())
    over.push_back(
        fmt::format("all {} that give one {}", names_of(statement, shared), ir::target_text(program, statement)));
  return fmt::format("{} the values over {}", what, fmt::join(over, ", and "));
}

Result<std::string> writes_text(const ir::Program& program, const ir::Statement& statement) {
  const auto& target = program.tensors[static_cast<size_t>(statement.target)];
  if (target.extents.empty()) return fmt::format("writes {}", target.name);
  if (writes_every_element(program, statement)) return fmt::format("writes every element of {}", target.name);
  const std::string element = ir::target_text(program, statement), others = others_text(program, statement);
  if (ir::writes_nothing(statement)) return fmt::format("writes no element of {}; {}", target.name, others);
  std::vector<std::string> ranges;
  for (const auto& subscript : statement.subscripts) {
    TILE_TUNE_TRY(values, values_of(program, statement, subscript));
    if (!values) continue;
    const auto& [least, most] = *values;
    ranges.push_back(fmt::format("{} from {} to {}", ir::to_text(statement, subscript), least.str(), most.str()));
  }
  if (ranges.empty()) return fmt::format("writes {}; {}", element, others);
  return fmt::format("writes {} with {}; {}", element, fmt::join(ranges, ", "), others);
}

Result<nlohmann::json> writes_json(const ir::Program& program, const ir::Statement& statement) {
  const bool all = writes_every_element(program, statement);
  nlohmann::json json{{"tensor", program.tensors[static_cast<size_t>(statement.target)].name},
                      {"all", all},
                      {"dimensions", nlohmann::json::array()}};
  for (const auto& subscript : statement.subscripts) {
    TILE_TUNE_TRY(values, values_of(program, statement, subscript));
    nlohmann::json dimension{{"subscript", ir::to_text(statement, subscript)}};
    if (values) {
      dimension["from"] = size_json(values->least);
      dimension["to"] = size_json(values->most);
    }
    json["dimensions"].push_back(std::move(dimension));
  }
  if (!all) json["others"] = others_text(program, statement);
  return json;
}

std::vector<std::string> constraint_texts(const ir::Statement& statement) {
  std::vector<std::string> texts;
  for (const auto& constraint : statement.constraints)
    texts.push_back(fmt::format("0 <= {} < {}", ir::to_text(statement, constraint.expr), constraint.bound.str()));
  return texts;
}

}  // namespace tile_tune::cli
