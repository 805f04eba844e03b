#include "frontend/tc/print.h"

#include <fmt/format.h>

#include "frontend/tc/lexer.h"

namespace tile_tune::tc {
namespace {

using ir::Op;

struct Spelling {
  std::string_view symbol;
  int precedence;
};
constexpr int kMultiplicative = 5, kUnary = 6;

Spelling spelling(Op op) {
  switch (op) {
    case Op::Or:
      return {" || ", 1};
    case Op::And:
      return {" && ", 2};
    case Op::Eq:
      return {" == ", 3};
    case Op::Ne:
      return {" != ", 3};
    case Op::Lt:
      return {" < ", 3};
    case Op::Le:
      return {" <= ", 3};
    case Op::Gt:
      return {" > ", 3};
    case Op::Ge:
      return {" >= ", 3};
    case Op::Add:
      return {" + ", 4};
    case Op::Sub:
      return {" - ", 4};
    case Op::Mul:
      return {" * ", kMultiplicative};
    case Op::Div:
      return {" / ", kMultiplicative};
    case Op::Mod:
      return {" % ", kMultiplicative};
    case Op::Neg:
      return {"-", kUnary};
    case Op::Not:
      return {"!", kUnary};
    default:
      return {" ? ", 0};
  }
}

class Printer {
 public:
  Printer(size_t limit, Replacement replacement) : limit_(limit), replacement_(std::move(replacement)) {}

  // `precedence`: what binds less tightly gets parentheses.
  void print(const ast::Expr& expr, int precedence) {
    if (text.size() > limit_) return;
    if (const auto other = replacement_ ? replacement_(expr) : std::nullopt) {
      text += *other;
    } else if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
      text += number->text;
    } else if (const auto* identifier = std::get_if<ast::Identifier>(&expr.node)) {
      text += identifier->name;
    } else if (const auto* apply = std::get_if<ast::Apply>(&expr.node)) {
      text += apply->name.text;
      print_list(apply->arguments);
    } else if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) {
      text += scalar_name(cast->type);
      text += '(';
      print(*cast->argument, 0);
      text += ')';
    } else {
      print_operation(std::get<ast::Operation>(expr.node), precedence);
    }
  }

  std::string text;

 private:
  // Inside, multiplication is printed tightly: A(2*i + 1).
  void print_list(const std::vector<ast::ExprPtr>& arguments) {
    text += '(';
    ++lists_;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (i > 0) text += ',';
      print(*arguments[i], 0);
    }
    --lists_;
    text += ')';
  }

  void print_operation(const ast::Operation& operation, int outer) {
    auto [symbol, precedence] = spelling(operation.op);
    if (lists_ > 0 && precedence == kMultiplicative) symbol = symbol.substr(1, 1);
    const auto& arguments = operation.arguments;
    if (precedence < outer) text += '(';
    if (arguments.size() == 1) {
      text += symbol;
      print(*arguments[0], kUnary);
    } else {
      const bool is_group = operation.op == ir::Op::Mul && operation.left_in_parentheses;
      print(*arguments[0], arguments.size() == 3 ? 1 : precedence + (is_group ? 1 : 0));
      text += symbol;
      // Operators associate to the left, the conditional to the right.
      print(*arguments[1], arguments.size() == 3 ? 0 : precedence + 1);
      if (arguments.size() == 3) {
        text += " : ";
        print(*arguments[2], 0);
      }
    }
    if (precedence < outer) text += ')';
  }

  size_t limit_;
  int lists_ = 0;
  Replacement replacement_;
};

}  // namespace

std::string to_text(const ast::Expr& expr, size_t limit) {
  Printer printer(limit, nullptr);
  printer.print(expr, 0);
  if (printer.text.size() <= limit) return std::move(printer.text);
  return printer.text.substr(0, limit) + "...";
}

std::string to_text(const ast::Expr& expr, const Replacement& replacement) {
  Printer printer(std::string::npos, replacement);
  printer.print(expr, 0);
  return std::move(printer.text);
}

std::string to_text(const ast::Statement& statement, const Replacement& replacement,
                    const std::vector<std::string>& where) {
  std::string left(statement.target.text);
  if (statement.has_parentheses) {
    left += '(';
    for (size_t i = 0; i < statement.subscripts.size(); ++i)
      left += fmt::format("{}{}", i > 0 ? "," : "", statement.subscripts[i].text);
    left += ')';
  }
  return fmt::format("{} {} {}{}{}", left, statement.op_text, to_text(*statement.value, replacement),
                     where.empty() ? "" : " where ", fmt::join(where, ", "));
}

}  // namespace tile_tune::tc
