#include "tests/golden/tc/dump.h"

#include <fmt/format.h>

namespace tile_tune::test {
namespace {

using namespace ir;

std::string_view role_name(Role role) {
  switch (role) {
    case Role::Input:
      return "input";
    case Role::InOut:
      return "in/out";
    case Role::Temporary:
      return "temporary";
    case Role::Output:
      return "output";
  }
  return "";
}

std::string affine(const Statement& statement, const AffineExpr& expr) {
  SizeExpr sum = expr.constant;
  for (const auto& [index, coefficient] : expr.terms)
    sum = sum + SizeExpr::name(statement.indices.at(index).name) * coefficient;
  return sum.str();
}

struct ExprDumper {
  const Program& program;
  const Statement& statement;

  std::string operator()(const ExprPtr& expr) const {
    const auto type = dtype_name(expr->type);
    if (const auto* literal = std::get_if<Literal>(&expr->node))
      return std::visit([&](auto value) { return fmt::format("{}:{}", value, type); }, literal->value);
    if (const auto* index = std::get_if<IndexValue>(&expr->node)) return statement.indices.at(index->index).name;
    if (const auto* size = std::get_if<SizeValue>(&expr->node)) return fmt::format("[{}]:{}", size->size.str(), type);
    std::string text;
    if (const auto* read = std::get_if<Read>(&expr->node)) {
      text = fmt::format("(read {} {}", type, program.tensors.at(read->tensor).name);
      if (program.tensors.at(read->tensor).role == Role::InOut) text += " (on entry)";
      for (const auto& subscript : read->subscripts) {
        const auto* linear = std::get_if<AffineExpr>(&subscript);
        text += linear ? " " + affine(statement, *linear) : " gather " + (*this)(std::get<ExprPtr>(subscript));
        if (&subscript != &read->subscripts.back()) text += ",";
      }
    } else if (const auto* call = std::get_if<Call>(&expr->node)) {
      text = fmt::format("({} {}", op_name(call->op), type);
      for (const auto& argument : call->arguments) text += " " + (*this)(argument);
    } else {
      text = fmt::format("(cast {} {}", type, (*this)(std::get<Cast>(expr->node).argument));
    }
    return text + ")";
  }
};

std::string tensor_line(const Tensor& tensor) {
  std::string extents;
  for (const auto& extent : tensor.extents) extents += (extents.empty() ? "" : ", ") + extent.str();
  return fmt::format("  {} {}: {}({})\n", role_name(tensor.role), tensor.name, dtype_name(tensor.type), extents);
}

std::string statement_lines(const Program& program, const Statement& statement) {
  std::string subscripts;
  for (const auto& subscript : statement.subscripts)
    subscripts += (subscripts.empty() ? "" : ", ") + affine(statement, subscript);
  std::string text = fmt::format("  {}({}) {} in {}", program.tensors.at(statement.target).name, subscripts,
                                 aggregation_name(statement.op), dtype_name(statement.accumulator));
  if (statement.previous) {
    const auto& previous = program.tensors.at(*statement.previous);
    text += fmt::format(", from {}{}", previous.name, previous.role == Role::InOut ? " on entry" : "");
  }
  text += "\n";
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const auto& index = statement.indices[i];
    text += fmt::format("    {} in [{}, {})  from {}{}\n", index.name, index.lo.str(), index.hi.str(), index.reason,
                        statement.is_reduction(static_cast<int>(i)) ? "  (reduced)" : "");
  }
  for (const auto& constraint : statement.constraints)
    text += fmt::format("    where 0 <= {} < {}\n", affine(statement, constraint.expr), constraint.bound.str());
  return text + "    = " + ExprDumper{program, statement}(statement.value) + "\n";
}

}  // namespace

std::string dump(const Program& program) {
  std::string text = fmt::format("def {}\n  sizes: {}\n", program.name, fmt::join(program.sizes, " "));
  for (const int input : program.inputs) text += tensor_line(program.tensors.at(input));
  for (const auto& statement : program.statements) text += statement_lines(program, statement);
  for (const auto& tensor : program.tensors)
    if (tensor.role == Role::InOut || tensor.role == Role::Temporary) text += tensor_line(tensor);
  for (const int output : program.outputs) text += tensor_line(program.tensors.at(output));
  return text;
}

}  // namespace tile_tune::test
