#include "frontend/ir/describe.h"

#include <fmt/format.h>
#include <cmath>

#include "frontend/ir/grouping.h"

namespace tile_tune::ir {
namespace {

std::string_view tc_type_name(DType type) {
  switch (type) {
    case DType::Bool:
      return "bool";
    case DType::I8:
      return "int8";
    case DType::U8:
      return "uint8";
    case DType::I16:
      return "int16";
    case DType::U16:
      return "uint16";
    case DType::I32:
      return "int32";
    case DType::U32:
      return "uint32";
    case DType::I64:
      return "int64";
    case DType::U64:
      return "uint64";
    case DType::F16:
      return "float16";
    case DType::BF16:
      return "bfloat16";
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    case DType::C32:
      return "complex64";  // TC has no complex types: numpy's names
    case DType::C64:
      return "complex128";
  }
  return "";
}

// How tightly an expression binds, loosest first: TC's grammar (docs/tc.md).
enum Precedence { kConditional, kOr, kAnd, kComparison, kSum, kProduct, kUnary, kPrimary };

struct Infix {
  std::string_view symbol;
  Precedence precedence;
};

std::optional<Infix> infix(Op op) {
  switch (op) {
    case Op::Add:
      return Infix{"+", kSum};
    case Op::Sub:
      return Infix{"-", kSum};
    case Op::Mul:
      return Infix{"*", kProduct};
    case Op::Div:
      return Infix{"/", kProduct};
    case Op::Mod:
      return Infix{"%", kProduct};
    case Op::Eq:
      return Infix{"==", kComparison};
    case Op::Ne:
      return Infix{"!=", kComparison};
    case Op::Lt:
      return Infix{"<", kComparison};
    case Op::Le:
      return Infix{"<=", kComparison};
    case Op::Gt:
      return Infix{">", kComparison};
    case Op::Ge:
      return Infix{">=", kComparison};
    case Op::And:
      return Infix{"&&", kAnd};
    case Op::Or:
      return Infix{"||", kOr};
    default:
      return std::nullopt;
  }
}

struct Text {
  std::string text;
  Precedence precedence;
};

std::string at_least(const Text& part, Precedence precedence) {
  return part.precedence >= precedence ? part.text : fmt::format("({})", part.text);
}

Text signed_text(std::string text) {
  const auto precedence = text.front() == '-' ? kUnary : kPrimary;
  return {std::move(text), precedence};
}

Text literal_text(const Literal& literal, DType type) {
  if (const auto* truth = std::get_if<bool>(&literal.value)) return {*truth ? "true" : "false", kPrimary};
  if (const auto* integer = std::get_if<int64_t>(&literal.value))
    return signed_text(type == DType::U64 ? std::to_string(static_cast<uint64_t>(*integer)) : std::to_string(*integer));
  const double value = std::get<double>(literal.value);
  auto text = fmt::format("{}", value);  // shortest that reads back the same
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return signed_text(std::move(text));
}

Text size_text(const SizeExpr& size) {
  if (size.constant()) return signed_text(size.str());
  const bool bare = size.offset() == 0 && size.terms().size() == 1 && size.terms().front().coefficient == 1 &&
                    size.terms().front().atom->kind != SizeExpr::Atom::Kind::Product;
  return {size.str(), bare ? kPrimary : kSum};
}

template <typename T, typename ToText>
std::string listed(const std::vector<T>& items, std::string_view separator, const ToText& to_text_of) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(to_text_of(item));
  return fmt::format("{}", fmt::join(texts, separator));
}

struct Printer {
  const Program& program;
  const Statement& statement;

  Text print(const Expr& expr) const {
    return std::visit([&](const auto& node) { return print(node, expr.type); }, expr.node);
  }

  Text print(const Literal& literal, DType type) const { return literal_text(literal, type); }
  Text print(const IndexValue& value, DType) const { return {statement.indices[value.index].name, kPrimary}; }
  Text print(const SizeValue& value, DType) const { return size_text(value.size); }
  Text print(const Cast& cast, DType type) const {
    if (cast.argument->type == type && is_product(*cast.argument))
      return {fmt::format("({})", print(*cast.argument).text), kPrimary};
    return {fmt::format("{}({})", tc_type_name(type), print(*cast.argument).text), kPrimary};
  }

  Text print(const Read& read, DType) const { return print(read); }
  Text print(const Read& read) const {
    const auto subscripts = listed(read.subscripts, ",", [&](const Subscript& subscript) {
      const auto* affine = std::get_if<AffineExpr>(&subscript);
      return affine ? to_text(statement, *affine) : print(*std::get<ExprPtr>(subscript)).text;
    });
    const auto& name = program.tensors[read.tensor].name;
    return {read.subscripts.empty() ? name : fmt::format("{}({})", name, subscripts), kPrimary};
  }

  Text print(const Call& call, DType) const {
    const auto argument = [&](size_t i) { return print(*call.arguments[i]); };
    if (const auto op = infix(call.op)) {
      // Operators group to the left: a right operand of the same precedence needs parentheses.
      const auto tighter = static_cast<Precedence>(op->precedence + 1);
      return {
          fmt::format("{} {} {}", at_least(argument(0), op->precedence), op->symbol, at_least(argument(1), tighter)),
          op->precedence};
    }
    if (call.op == Op::Select)
      return {fmt::format("{} ? {} : {}", at_least(argument(0), kOr), at_least(argument(1), kOr),
                          at_least(argument(2), kConditional)),
              kConditional};
    // "--x" would read as one token to some, so even unary operands get parentheses.
    if (call.op == Op::Neg || call.op == Op::Not)
      return {fmt::format("{}{}", call.op == Op::Neg ? '-' : '!', at_least(argument(0), kPrimary)), kUnary};
    const auto arguments = listed(call.arguments, ", ", [&](const ExprPtr& part) { return print(*part).text; });
    return {fmt::format("{}({})", op_name(call.op), arguments), kPrimary};
  }
};

std::string_view operator_text(const Statement& statement) {
  const bool continues = statement.previous.has_value();
  switch (statement.op) {
    case Aggregation::Assign:
      return "=";
    case Aggregation::Sum:
      return continues ? "+=" : "+=!";
    case Aggregation::Product:
      return continues ? "*=" : "*=!";
    case Aggregation::Min:
      return continues ? "min=" : "min=!";
    case Aggregation::Max:
      return continues ? "max=" : "max=!";
  }
  return "";
}

std::string declaration(const Tensor& tensor) {
  const auto extents = listed(tensor.extents, ",", [](const SizeExpr& extent) { return extent.str(); });
  return extents.empty() ? fmt::format("{} {}", tc_type_name(tensor.type), tensor.name)
                         : fmt::format("{}({}) {}", tc_type_name(tensor.type), extents, tensor.name);
}

std::string declarations(const Program& program, const std::vector<int>& tensors) {
  return listed(tensors, ", ", [&](int number) { return declaration(program.tensors[number]); });
}

}  // namespace

std::string signature(const Program& program) {
  return fmt::format("{}({}) -> ({})", program.name, declarations(program, program.inputs),
                     declarations(program, program.outputs));
}

std::string to_text(const Statement& statement, const AffineExpr& expr) {
  std::string text;
  const auto append = [&](bool negative, std::string_view part) {
    text += text.empty() ? fmt::format("{}{}", negative ? "-" : "", part)
                         : fmt::format(" {} {}", negative ? '-' : '+', part);
  };
  const auto append_terms = [&](bool negative) {
    for (const auto& [index, coefficient] : expr.terms) {
      if ((coefficient < 0) != negative) continue;
      const auto& name = statement.indices[index].name;
      const auto magnitude = negative ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
      append(negative, magnitude == 1 ? name : fmt::format("{}*{}", magnitude, name));
    }
  };
  // Positive terms first, so that a reversed access reads N - i - 1 and not -i + N - 1.
  append_terms(false);
  const bool constant_leads = text.empty();
  const bool zero = expr.constant.constant() == 0;
  if (constant_leads && !zero) text = expr.constant.str();
  append_terms(true);
  if (!constant_leads && !zero) {
    const bool negative = expr.constant.str().front() == '-';
    append(negative, negative ? at_least(size_text(-expr.constant), kProduct) : expr.constant.str());
  }
  if (text.empty()) append(false, "0");
  if (expr.denominator == 1) return text;
  const bool is_name = expr.terms.size() == 1 && expr.terms[0].second == 1 && zero;
  return fmt::format("{}/{}", is_name ? text : fmt::format("({})", text), expr.denominator);
}

std::string to_text(const Program& program, const Statement& statement, const Expr& expr) {
  return Printer{program, statement}.print(expr).text;
}

std::string to_text(const Program& program, const Statement& statement, const Read& read) {
  return Printer{program, statement}.print(read).text;
}

std::string_view op_text(Op op) {
  if (op == Op::Neg) return "-";
  if (op == Op::Not) return "!";
  const auto written = infix(op);
  return written ? written->symbol : op_name(op);
}

std::string target_text(const Program& program, const Statement& statement) {
  Read target{statement.target, {}};
  for (const auto& subscript : statement.subscripts) target.subscripts.emplace_back(subscript);
  return to_text(program, statement, target);
}

std::string to_text(const Program& program, const Statement& statement) {
  const auto elsewhere =
      statement.unwritten ? fmt::format(", elsewhere {}", program.tensors[*statement.unwritten].name) : "";
  return fmt::format("{} {} {}{}", target_text(program, statement), operator_text(statement),
                     to_text(program, statement, *statement.value), elsewhere);
}

}  // namespace tile_tune::ir
