#include "search/baselines/c_expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "codegen/schedule/loops.h"
#include "search/baselines/loop_nest.h"

namespace tile_tune::search {
namespace {

bool is_small_float(DType type) { return type == DType::F16 || type == DType::BF16; }

std::string literal_text(const ir::Literal& literal, DType type) {
  const std::string as = c_value_type(type);
  if (const auto* flag = std::get_if<bool>(&literal.value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&literal.value)) {
    // The smallest number of 64 bits has no literal of its own.
    if (*integer == INT64_MIN) return fmt::format("{}(INT64_MIN)", as);
    return fmt::format("{}({}{})", as, *integer, is_float(type) || is_complex(type) ? ".0" : "LL");
  }
  const double value = std::get<double>(literal.value);
  if (std::isnan(value)) return fmt::format("{}(NAN)", as);
  if (std::isinf(value)) return fmt::format("{}({}INFINITY)", as, value < 0 ? "-" : "");
  return fmt::format("{}({:.17e})", as, value);
}

// Functions of the C library by the same name, overloaded for float and double.
const std::map<ir::Op, const char*>& functions() {
  using ir::Op;
  static const std::map<Op, const char*> names = {
      {Op::Abs, "abs"},     {Op::Acos, "acos"},       {Op::Acosh, "acosh"}, {Op::Asin, "asin"},
      {Op::Asinh, "asinh"}, {Op::Atan, "atan"},       {Op::Atanh, "atanh"}, {Op::Cbrt, "cbrt"},
      {Op::Ceil, "ceil"},   {Op::Cos, "cos"},         {Op::Cosh, "cosh"},   {Op::Erf, "erf"},
      {Op::Erfc, "erfc"},   {Op::Exp, "exp"},         {Op::Exp2, "exp2"},   {Op::Expm1, "expm1"},
      {Op::Floor, "floor"}, {Op::Lgamma, "lgamma"},   {Op::Log, "log"},     {Op::Log10, "log10"},
      {Op::Log1p, "log1p"}, {Op::Log2, "log2"},       {Op::Sin, "sin"},     {Op::Sinh, "sinh"},
      {Op::Sqrt, "sqrt"},   {Op::Tan, "tan"},         {Op::Tanh, "tanh"},   {Op::Tgamma, "tgamma"},
      {Op::Trunc, "trunc"}, {Op::Round, "nearbyint"}, {Op::Atan2, "atan2"}, {Op::Copysign, "copysign"},
      {Op::Fdim, "fdim"},   {Op::Fmod, "fmod"},       {Op::Hypot, "hypot"}, {Op::Pow, "pow"},
      {Op::IsNan, "isnan"}, {Op::Fma, "fma"}};
  return names;
}

const std::map<ir::Op, const char*>& infixes() {
  using ir::Op;
  static const std::map<Op, const char*> names = {{Op::Add, "+"}, {Op::Sub, "-"},  {Op::Mul, "*"}, {Op::Eq, "=="},
                                                  {Op::Ne, "!="}, {Op::Lt, "<"},   {Op::Le, "<="}, {Op::Gt, ">"},
                                                  {Op::Ge, ">="}, {Op::And, "&&"}, {Op::Or, "||"}};
  return names;
}

std::string call_text(ir::Op op, const std::vector<std::string>& a, DType type) {
  const std::string as = c_value_type(type);
  if (const auto infix = infixes().find(op); infix != infixes().end())
    return fmt::format("{}({} {} {})", as, a[0], infix->second, a[1]);
  if (const auto function = functions().find(op); function != functions().end())
    return fmt::format("{}(std::{}({}))", as, function->second, fmt::join(a, ", "));
  using ir::Op;
  switch (op) {
    case Op::Div:
      return is_integer(type) ? fmt::format("{}(floor_div({}, {}))", as, a[0], a[1])
                              : fmt::format("({} / {})", a[0], a[1]);
    case Op::Mod:
      return is_integer(type) ? fmt::format("{}(floor_mod({}, {}))", as, a[0], a[1]) : "";
    case Op::Neg:
      return fmt::format("{}(-{})", as, a[0]);
    case Op::Not:
      return fmt::format("(!{})", a[0]);
    case Op::Select:
      return fmt::format("({} ? {} : {})", a[0], a[1], a[2]);
    // As vector instructions have them; where an operand is NaN the result differs, and is found out.
    case Op::Min:
    case Op::Fmin:
      return fmt::format("({0} < {1} ? {0} : {1})", a[0], a[1]);
    case Op::Max:
    case Op::Fmax:
      return fmt::format("({0} > {1} ? {0} : {1})", a[0], a[1]);
    case Op::Relu:
      return fmt::format("({0} > 0 ? {0} : {1}(0))", a[0], as);
    case Op::Rsqrt:
      return fmt::format("{}(1 / std::sqrt({}))", as, a[0]);
    case Op::Sigmoid:
      return fmt::format("{0}(1 / (1 + std::exp(-{1})))", as, a[0]);
    default:
      return "";
  }
}

}  // namespace

std::string c_value_type(DType type) { return is_small_float(type) ? "float" : c_type(type); }

std::string c_affine(const ir::AffineExpr& expr) {
  std::string text = fmt::format("{}", expr.constant.constant().value_or(0));
  for (const auto& [index, coefficient] : expr.terms)
    text += coefficient == 1 ? fmt::format(" + i{}", index) : fmt::format(" + {} * i{}", coefficient, index);
  return expr.denominator == 1 ? "(" + text + ")" : fmt::format("(({}) / {})", text, expr.denominator);
}

std::optional<std::string> c_offset(const ir::Program& program, int tensor,
                                    const std::vector<ir::Subscript>& subscripts) {
  const auto strides = ir::strides(program.tensors[tensor]);
  std::string text;
  for (size_t d = 0; d < subscripts.size(); ++d) {
    std::string one;
    if (const auto* affine = std::get_if<ir::AffineExpr>(&subscripts[d])) {
      if (affine->terms.empty() && affine->constant.constant() == 0) continue;
      one = c_affine(*affine);
    } else {
      const auto value = c_expression(program, *std::get<ir::ExprPtr>(subscripts[d]));
      if (!value) return std::nullopt;
      one = fmt::format("int64_t({})", *value);
    }
    text += (text.empty() ? "" : " + ") + (strides[d] == 1 ? one : fmt::format("{} * {}", strides[d], one));
  }
  return text.empty() ? "0" : text;
}

std::optional<std::string> c_expression(const ir::Program& program, const ir::Expr& expr) {
  if (const auto* literal = std::get_if<ir::Literal>(&expr.node)) return literal_text(*literal, expr.type);
  if (const auto* index = std::get_if<ir::IndexValue>(&expr.node))
    return fmt::format("{}(i{})", c_value_type(expr.type), index->index);
  if (const auto* size = std::get_if<ir::SizeValue>(&expr.node))
    return fmt::format("{}({})", c_value_type(expr.type), size->size.constant().value_or(0));
  if (const auto* read = std::get_if<ir::Read>(&expr.node)) {
    const auto offset = c_offset(program, read->tensor, read->subscripts);
    if (!offset) return std::nullopt;
    return fmt::format("{}(t{}[{}])", c_value_type(expr.type), read->tensor, *offset);
  }
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
    const auto argument = c_expression(program, *cast->argument);
    if (!argument || is_complex(cast->argument->type) != is_complex(expr.type)) return std::nullopt;
    if (is_small_float(expr.type)) return fmt::format("float({}({}))", c_type(expr.type), *argument);
    const bool truncates = is_float(cast->argument->type) && is_integer(expr.type);
    return fmt::format("{}({})", truncates ? fmt::format("truncated<{}>", c_type(expr.type)) : c_value_type(expr.type),
                       *argument);
  }
  const auto& call = std::get<ir::Call>(expr.node);
  std::vector<std::string> arguments;
  for (const auto& argument : call.arguments) {
    auto text = c_expression(program, *argument);
    if (!text) return std::nullopt;
    arguments.push_back(std::move(*text));
  }
  const bool bits = expr.type == DType::Bool && (call.op == ir::Op::Add || call.op == ir::Op::Mul);
  const std::string text =
      bits ? fmt::format("({} {} {})", arguments[0], call.op == ir::Op::Add ? "||" : "&&", arguments[1])
           : call_text(call.op, arguments, expr.type);
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace tile_tune::search
