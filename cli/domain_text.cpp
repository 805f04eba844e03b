#include "cli/domain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/written_elements.h"

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

std::string others_text(const ir::Program& program, const ir::Statement& statement) {
  const auto name = [&](int number) { return program.tensors[static_cast<size_t>(number)].name; };
  if (statement.previous) return fmt::format("the others keep the value of {}", name(*statement.previous));
  if (statement.unwritten) return fmt::format("the others are those of {}", name(*statement.unwritten));
  return "the others are 0";
}

}  // namespace

std::string indices_text(const ir::Program& program, const ir::Statement& statement, int indent) {
  const auto combined = ir::combined_indices(program, statement);
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
  const auto combined = ir::combined_indices(program, statement);
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
  const auto reductions = statement.reduction_indices(), shared = ir::shared_reduction_indices(program, statement);
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
  if (ir::writes_every_element(program, statement)) return fmt::format("writes every element of {}", target.name);
  const std::string element = ir::target_text(program, statement), others = others_text(program, statement);
  if (ir::writes_nothing(statement)) return fmt::format("writes no element of {}; {}", target.name, others);
  std::vector<std::string> ranges;
  for (const auto& subscript : statement.subscripts) {
    TILE_TUNE_TRY(values, ir::extremes(program, statement, subscript));
    if (!values) continue;
    const auto& [least, most] = *values;
    ranges.push_back(fmt::format("{} from {} to {}", ir::to_text(statement, subscript), least.str(), most.str()));
  }
  if (ranges.empty()) return fmt::format("writes {}; {}", element, others);
  return fmt::format("writes {} with {}; {}", element, fmt::join(ranges, ", "), others);
}

Result<nlohmann::json> writes_json(const ir::Program& program, const ir::Statement& statement) {
  const bool all = ir::writes_every_element(program, statement);
  nlohmann::json json{{"tensor", program.tensors[static_cast<size_t>(statement.target)].name},
                      {"all", all},
                      {"dimensions", nlohmann::json::array()}};
  for (const auto& subscript : statement.subscripts) {
    TILE_TUNE_TRY(values, ir::extremes(program, statement, subscript));
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
