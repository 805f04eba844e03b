#include "frontend/ir/expr.h"

#include <array>
#include <set>

namespace tile_tune::ir {
namespace {

struct OpInfo {
  Op op;
  std::string_view name;
  size_t arity;
};

// In the order of the enumeration, so that an Op is its place here.
constexpr std::array kOps{
    OpInfo{Op::Add, "add", 2},       OpInfo{Op::Sub, "sub", 2},
    OpInfo{Op::Mul, "mul", 2},       OpInfo{Op::Div, "div", 2},
    OpInfo{Op::Mod, "mod", 2},       OpInfo{Op::Neg, "neg", 1},
    OpInfo{Op::Min, "min", 2},       OpInfo{Op::Max, "max", 2},
    OpInfo{Op::Eq, "eq", 2},         OpInfo{Op::Ne, "ne", 2},
    OpInfo{Op::Lt, "lt", 2},         OpInfo{Op::Le, "le", 2},
    OpInfo{Op::Gt, "gt", 2},         OpInfo{Op::Ge, "ge", 2},
    OpInfo{Op::And, "and", 2},       OpInfo{Op::Or, "or", 2},
    OpInfo{Op::Not, "not", 1},       OpInfo{Op::Select, "select", 3},
    OpInfo{Op::Abs, "abs", 1},       OpInfo{Op::Acos, "acos", 1},
    OpInfo{Op::Acosh, "acosh", 1},   OpInfo{Op::Asin, "asin", 1},
    OpInfo{Op::Asinh, "asinh", 1},   OpInfo{Op::Atan, "atan", 1},
    OpInfo{Op::Atanh, "atanh", 1},   OpInfo{Op::Cbrt, "cbrt", 1},
    OpInfo{Op::Ceil, "ceil", 1},     OpInfo{Op::Cos, "cos", 1},
    OpInfo{Op::Cosh, "cosh", 1},     OpInfo{Op::Erf, "erf", 1},
    OpInfo{Op::Erfc, "erfc", 1},     OpInfo{Op::Exp, "exp", 1},
    OpInfo{Op::Exp2, "exp2", 1},     OpInfo{Op::Exp10, "exp10", 1},
    OpInfo{Op::Expm1, "expm1", 1},   OpInfo{Op::Floor, "floor", 1},
    OpInfo{Op::IsNan, "isnan", 1},   OpInfo{Op::Lgamma, "lgamma", 1},
    OpInfo{Op::Log, "log", 1},       OpInfo{Op::Log10, "log10", 1},
    OpInfo{Op::Log1p, "log1p", 1},   OpInfo{Op::Log2, "log2", 1},
    OpInfo{Op::Relu, "relu", 1},     OpInfo{Op::Round, "round", 1},
    OpInfo{Op::Rsqrt, "rsqrt", 1},   OpInfo{Op::Sigmoid, "sigmoid", 1},
    OpInfo{Op::Sign, "sign", 1},     OpInfo{Op::Sin, "sin", 1},
    OpInfo{Op::Sinh, "sinh", 1},     OpInfo{Op::Sqrt, "sqrt", 1},
    OpInfo{Op::Tan, "tan", 1},       OpInfo{Op::Tanh, "tanh", 1},
    OpInfo{Op::Tgamma, "tgamma", 1}, OpInfo{Op::Trunc, "trunc", 1},
    OpInfo{Op::Atan2, "atan2", 2},   OpInfo{Op::Copysign, "copysign", 2},
    OpInfo{Op::Fdim, "fdim", 2},     OpInfo{Op::Fmax, "fmax", 2},
    OpInfo{Op::Fmin, "fmin", 2},     OpInfo{Op::Fmod, "fmod", 2},
    OpInfo{Op::Hypot, "hypot", 2},   OpInfo{Op::Pow, "pow", 2},
    OpInfo{Op::Fma, "fma", 3},       OpInfo{Op::Conj, "conj", 1},
};

consteval bool follows_the_enumeration() {
  for (size_t i = 0; i < kOps.size(); ++i)
    if (static_cast<size_t>(kOps[i].op) != i) return false;
  return kOps.size() == static_cast<size_t>(Op::Conj) + 1;
}
static_assert(follows_the_enumeration());

void collect_indices(const Expr& expr, std::set<int>& indices) {
  if (const auto* value = std::get_if<IndexValue>(&expr.node)) indices.insert(value->index);
  if (const auto* call = std::get_if<Call>(&expr.node))
    for (const auto& argument : call->arguments) collect_indices(*argument, indices);
  if (const auto* cast = std::get_if<Cast>(&expr.node)) collect_indices(*cast->argument, indices);
  const auto* read = std::get_if<Read>(&expr.node);
  if (!read) return;
  for (const auto& subscript : read->subscripts) {
    if (const auto* nested = std::get_if<ExprPtr>(&subscript)) {
      collect_indices(**nested, indices);
      continue;
    }
    for (const auto& term : std::get<AffineExpr>(subscript).terms) indices.insert(term.first);
  }
}

}  // namespace

std::string_view op_name(Op op) { return kOps[static_cast<size_t>(op)].name; }
bool is_comparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }

bool works_on_complex(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Neg:
    case Op::Conj:
    case Op::Eq:
    case Op::Ne:
    case Op::Select:
      return true;
    default:
      return false;
  }
}

std::optional<Op> on_bools(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Max:
      return Op::Or;
    case Op::Mul:
    case Op::Min:
      return Op::And;
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Select:
      return op;
    default:
      return is_comparison(op) ? std::optional(op) : std::nullopt;
  }
}

size_t op_arity(Op op) { return kOps[static_cast<size_t>(op)].arity; }

std::optional<Op> parse_op(std::string_view name) {
  for (const auto& info : kOps)
    if (info.name == name) return info.op;
  return std::nullopt;
}

int64_t AffineExpr::coefficient(int number) const {
  for (const auto& [index, value] : terms)
    if (index == number) return value;
  return 0;
}

std::vector<int> indices_of(const Expr& expr) {
  std::set<int> indices;
  collect_indices(expr, indices);
  return {indices.begin(), indices.end()};
}

void for_each_read(const Expr& expr, const std::function<void(const Read&)>& visit) {
  if (const auto* read = std::get_if<Read>(&expr.node)) {
    visit(*read);
    for (const auto& subscript : read->subscripts)
      if (const auto* nested = std::get_if<ExprPtr>(&subscript)) for_each_read(**nested, visit);
  } else if (const auto* call = std::get_if<Call>(&expr.node)) {
    for (const auto& argument : call->arguments) for_each_read(*argument, visit);
  } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
    for_each_read(*cast->argument, visit);
  }
}

ExprPtr zero(DType type) {
  if (type == DType::Bool) return make_expr(type, Literal{false});
  if (is_integer(type)) return make_expr(type, Literal{int64_t{0}});
  return make_expr(type, Literal{0.0});
}

}  // namespace tile_tune::ir
