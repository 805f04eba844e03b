#include "cli/domain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/table.h"
#include "frontend/ir/describe.h"

namespace tile_tune::cli {

namespace {

std::string role_of_index(const ir::Statement& statement, int index) {
  if (!statement.is_reduction(index)) return "";
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

/// Smallest and largest value of a subscript over the box of the ranges.
struct Values {
  ir::SizeExpr least, most;
};
Values values_of(const ir::Statement& statement, const ir::AffineExpr& subscript) {
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

/// Every element: each dimension is walked by an index of its own, from end to end, and nothing is left out.
bool writes_all(const ir::Program& program, const ir::Statement& statement) {
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
  return statement.constraints.empty();
}

std::string others_text(const ir::Program& program, const ir::Statement& statement) {
  const auto name = [&](int number) { return program.tensors[static_cast<size_t>(number)].name; };
  if (statement.previous) return fmt::format("the others keep the value of {}", name(*statement.previous));
  if (statement.unwritten) return fmt::format("the others are those of {}", name(*statement.unwritten));
  return "the others are 0";
}

}  // namespace

std::string indices_text(const ir::Statement& statement, int indent) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto& index = statement.indices[i];
    rows.push_back({index.name, fmt::format("[{}, {})", index.lo.str(), index.hi.str()),
                    role_of_index(statement, static_cast<int>(i)), index.reason});
  }
  if (rows.empty()) return "";
  if (!statement.reduction_indices().empty())
    return format_table({{"index"}, {"range"}, {"reduced"}, {"bounded by"}}, rows, indent);
  for (auto& row : rows) row.erase(row.begin() + 2);
  return format_table({{"index"}, {"range"}, {"bounded by"}}, rows, indent);
}

nlohmann::json size_json(const ir::SizeExpr& size) {
  if (const auto number = size.constant()) return *number;
  return size.str();
}

nlohmann::json indices_json(const ir::Statement& statement) {
  nlohmann::json indices = nlohmann::json::array();
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto& index = statement.indices[i];
    indices.push_back({{"name", index.name},
                       {"lo", size_json(index.lo)},
                       {"hi", size_json(index.hi)},
                       {"reduction", statement.is_reduction(static_cast<int>(i))},
                       {"bounded_by", index.reason}});
  }
  return indices;
}

std::string writes_text(const ir::Program& program, const ir::Statement& statement) {
  const auto& target = program.tensors[static_cast<size_t>(statement.target)];
  if (target.extents.empty()) return fmt::format("writes {}", target.name);
  if (writes_all(program, statement)) return fmt::format("writes every element of {}", target.name);
  std::vector<std::string> subscripts, ranges;
  for (const auto& subscript : statement.subscripts) {
    const auto [least, most] = values_of(statement, subscript);
    subscripts.push_back(ir::to_text(statement, subscript));
    ranges.push_back(fmt::format("{} from {} to {}", subscripts.back(), least.str(), most.str()));
  }
  return fmt::format("writes {}({}) with {}; {}", target.name, fmt::join(subscripts, ","), fmt::join(ranges, ", "),
                     others_text(program, statement));
}

nlohmann::json writes_json(const ir::Program& program, const ir::Statement& statement) {
  const bool all = writes_all(program, statement);
  nlohmann::json json{{"tensor", program.tensors[static_cast<size_t>(statement.target)].name},
                      {"all", all},
                      {"dimensions", nlohmann::json::array()}};
  for (const auto& subscript : statement.subscripts) {
    const auto [least, most] = values_of(statement, subscript);
    json["dimensions"].push_back(
        {{"subscript", ir::to_text(statement, subscript)}, {"from", size_json(least)}, {"to", size_json(most)}});
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
