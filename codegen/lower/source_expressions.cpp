#include "codegen/lower/source_expressions.h"

#include <fmt/format.h>

#include <cmath>

namespace tile_tune::codegen {

using Halide::Expr;
using Halide::Type;
using Halide::Internal::Call;

namespace {

/// Texts longer than this get a name.
constexpr size_t kLongest = 60;

/// "sqrt" of "sqrt_f32"; empty where Halide has no function of that name.
std::string math_function(const std::string& name) {
  static const std::set<std::string> kFunctions{"sqrt", "floor", "ceil", "trunc", "is_nan"};
  const std::string function = name.substr(0, name.rfind('_'));
  const bool is_float = name.ends_with("_f32") || name.ends_with("_f64");
  return is_float && kFunctions.contains(function) ? function : "";
}

std::string number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string number(float value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace

std::string source_of(const Type& type) {
  if (type.is_bool()) return "Bool()";
  const char* code = type.is_bfloat() ? "BFloat" : type.is_float() ? "Float" : type.is_uint() ? "UInt" : "Int";
  return fmt::format("{}({})", code, type.bits());
}

const std::map<std::string, std::string>& source_helpers() {
  static const std::map<std::string, std::string> all{
      {"constant",
       "  const auto constant = [](Type type, auto value) { return Internal::make_const(type, value); };\n"},
      {"intrinsic",
       "  const auto intrinsic = [](Type type, const char* name, const std::vector<Expr>& arguments) {\n"
       "    return Internal::Call::make(type, name, arguments, Internal::Call::PureIntrinsic);\n  };\n"},
      {"let",
       "  const auto let = [](const char* name, Expr value, Expr body) { return Internal::Let::make(name, value, "
       "body); "
       "};\n"},
      {"outside",
       "  const auto outside = [](Type type, const char* name, const std::vector<Expr>& arguments) {\n"
       "    return Internal::Call::make(type, name, arguments, Internal::Call::PureExtern);\n  };\n"},
      {"variable",
       "  const auto variable = [](Type type, const char* name) { return Internal::Variable::make(type, name); };\n"},
  };
  return all;
}

std::string SourceExpressions::text(const Expr& expr) { return print(expr).text; }

std::string SourceExpressions::argument(const Expr& expr) {
  const Text& printed = print(expr);
  return printed.kind == Kind::Reference ? fmt::format("Expr({})", printed.text) : printed.text;
}

std::string SourceExpressions::operand(const Expr& expr) {
  const Text& printed = print(expr);
  return printed.kind == Kind::Operation ? fmt::format("({})", printed.text) : printed.text;
}

std::string SourceExpressions::arguments(const std::vector<Expr>& exprs) {
  std::string all;
  for (const auto& expr : exprs) all += (all.empty() ? "" : ", ") + argument(expr);
  return all;
}

std::vector<std::string> SourceExpressions::take_lines() { return std::exchange(lines_, {}); }

const SourceExpressions::Text& SourceExpressions::print(const Expr& expr) {
  const auto* node = expr.get();
  if (const auto found = known_.find(node); found != known_.end()) return found->second;
  expr.accept(this);
  Text printed = std::move(result_);
  if (printed.text.size() > kLongest) {
    auto& name = constants_[printed.text];
    if (name.empty()) {
      name = names_.fresh("e" + std::to_string(constants_.size()));
      lines_.push_back(fmt::format("const Expr {} = {};", name, printed.text));
    }
    printed = {name, Kind::Atom};
  }
  kept_.push_back(expr);
  return known_.emplace(node, std::move(printed)).first->second;
}

void SourceExpressions::call(const std::string& function, const std::vector<Expr>& exprs) {
  const std::string all = arguments(exprs);
  result_ = {fmt::format("{}({})", function, all), Kind::Atom};
}

void SourceExpressions::binary(const Expr& a, const char* symbol, const Expr& b) {
  const std::string left = operand(a), right = operand(b);
  result_ = {fmt::format("{} {} {}", left, symbol, right), Kind::Operation};
}

void SourceExpressions::visit(const Halide::Internal::IntImm* op) {
  if (op->type == Halide::Int(32)) {
    result_ = {std::to_string(op->value), op->value < 0 ? Kind::Operation : Kind::Atom};
    return;
  }
  helpers_.insert("constant");
  const std::string value = op->value == INT64_MIN ? "INT64_MIN" : fmt::format("int64_t({})", op->value);
  result_ = {fmt::format("constant({}, {})", source_of(op->type), value)};
}

void SourceExpressions::visit(const Halide::Internal::UIntImm* op) {
  helpers_.insert("constant");
  result_ = {fmt::format("constant({}, uint64_t({}u))", source_of(op->type), op->value)};
}

void SourceExpressions::visit(const Halide::Internal::FloatImm* op) {
  const bool is_plain = std::isfinite(op->value) && op->type.bits() >= 32;
  if (is_plain && op->type.bits() == 32) {
    result_ = {fmt::format("Expr({})", number(static_cast<float>(op->value)))};
  } else if (is_plain) {
    result_ = {fmt::format("Expr({})", number(op->value))};
  } else {
    helpers_.insert("constant");
    const std::string value = std::isnan(op->value)   ? "double(NAN)"
                              : std::isinf(op->value) ? (op->value < 0 ? "double(-INFINITY)" : "double(INFINITY)")
                                                      : number(op->value);
    result_ = {fmt::format("constant({}, {})", source_of(op->type), value)};
  }
}

void SourceExpressions::visit(const Halide::Internal::Cast* op) {
  const std::string value = argument(op->value);
  result_ = {fmt::format("cast({}, {})", source_of(op->type), value)};
}

void SourceExpressions::visit(const Halide::Internal::Reinterpret* op) {
  const std::string value = argument(op->value);
  result_ = {fmt::format("reinterpret({}, {})", source_of(op->type), value)};
}

void SourceExpressions::visit(const Halide::Internal::Variable* op) {
  if (!lets_.contains(op->name)) {
    result_ = {names_.var(op->name), Kind::Reference};
    return;
  }
  helpers_.insert("variable");
  result_ = {fmt::format("variable({}, \"{}\")", source_of(op->type), op->name)};
}

void SourceExpressions::visit(const Halide::Internal::Not* op) { result_ = {"!" + operand(op->a), Kind::Operation}; }

void SourceExpressions::visit(const Halide::Internal::Select* op) {
  call("select", {op->condition, op->true_value, op->false_value});
}

void SourceExpressions::visit(const Call* op) {
  if (op->call_type == Call::Halide || op->call_type == Call::Image) {
    std::string all;
    for (const auto& expr : op->args)
      all += (all.empty() ? "" : ", ") + (expr.as<Halide::Internal::Variable>() ? text(expr) : argument(expr));
    result_ = {fmt::format("{}({})", names_.func(op->name), all), Kind::Reference};
    if (op->func.defined() && Halide::Internal::Function(op->func).outputs() > 1)
      result_.text += fmt::format("[{}]", op->value_index);
    return;
  }
  if (const auto function = math_function(op->name); !function.empty()) return call(function, op->args);
  if (op->is_intrinsic(Call::likely)) return call("likely", op->args);
  if (op->is_intrinsic(Call::abs)) return call("abs", op->args);
  if (op->is_intrinsic(Call::if_then_else)) return call("select", op->args);
  const std::string helper = op->call_type == Call::PureExtern ? "outside" : "intrinsic";
  helpers_.insert(helper);
  const std::string all = arguments(op->args);
  result_ = {fmt::format("{}({}, \"{}\", {{{}}})", helper, source_of(op->type), op->name, all)};
}

void SourceExpressions::visit(const Halide::Internal::Let* op) {
  helpers_.insert("let");
  lets_.insert(op->name);
  const std::string value = argument(op->value), body = argument(op->body);
  result_ = {fmt::format("let(\"{}\", {}, {})", op->name, value, body)};
}

}  // namespace tile_tune::codegen
