#include <algorithm>
#include <array>

#include "frontend/ir/operation_type.h"
#include "tests/property/programs/draft.h"

namespace tile_tune::test {
namespace {

using ir::ExprPtr;
using ir::Op;

constexpr std::array kNumbers{DType::I8,  DType::U8,  DType::I16, DType::U16,  DType::I32, DType::U32,
                              DType::I64, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

template <typename T, size_t N>
const T& pick(Draft& draft, const std::array<T, N>& from) {
  return from[draft.random.below(N)];
}

Value call(Op op, DType type, const std::vector<Value>& arguments, bool exact_operation) {
  std::vector<ExprPtr> exprs;
  for (const auto& argument : arguments) {
    exprs.push_back(argument.expr);
    exact_operation &= argument.exact;
  }
  return {ir::make_expr(type, ir::Call{op, std::move(exprs)}), exact_operation};
}

Value literal(DType type, double value) {
  if (type == DType::Bool) return {ir::make_expr(type, ir::Literal{value != 0}), true};
  if (is_integer(type)) return {ir::make_expr(type, ir::Literal{static_cast<int64_t>(value)}), true};
  return {ir::make_expr(type, ir::Literal{value}), true};
}

Value random_literal(Draft& draft, DType type) {
  // Halves are exact in every float type.
  const auto halves = static_cast<double>(draft.between(is_signed(type) || !is_integer(type) ? -9 : 0, 9));
  return literal(type, type == DType::Bool ? static_cast<double>(draft.between(0, 1)) : halves / 2);
}

bool is_exact(const Draft& draft, const ir::Expr& expr) {
  bool exact = true;
  ir::for_each_read(expr, [&](const ir::Read& read) { exact &= draft.exact[read.tensor]; });
  return exact;
}

Value leaf(Draft& draft, DType type) {
  if (draft.chance(15)) return random_literal(draft, type);
  if (type != DType::Bool && !is_complex(type) && !draft.statement.indices.empty() && draft.kind(8, "index value")) {
    const int index = static_cast<int>(draft.random.below(draft.statement.indices.size()));
    return {ir::make_expr(type, ir::IndexValue{index}), true};
  }
  const ExprPtr read = random_read(draft, type);
  return {read, is_exact(draft, *read)};
}

Value exact_leaf(Draft& draft, DType type) {
  const Value value = leaf(draft, type);
  return value.exact ? value : random_literal(draft, type);
}

// x as a number of [-limit, limit].
Value clamped(DType type, const Value& x, double limit) {
  const Value above = call(Op::Max, type, {x, literal(type, -limit)}, true);
  return call(Op::Min, type, {above, literal(type, limit)}, true);
}

// A number of [1.5, 3.5], far from where functions of positive numbers jump.
Value positive(DType type, const Value& x) {
  return call(Op::Add, type, {clamped(type, x, 1), literal(type, 2.5)}, false);
}

Value float_function(Draft& draft, DType type, const Value& x) {
  constexpr std::array kEverywhere{Op::Atan, Op::Erf, Op::Erfc, Op::Sigmoid, Op::Tanh};
  constexpr std::array kNearZero{Op::Asinh, Op::Cos,   Op::Cosh, Op::Exp,  Op::Exp2,
                                 Op::Exp10, Op::Expm1, Op::Sin,  Op::Sinh, Op::Tan};
  constexpr std::array kBelowOne{Op::Acos, Op::Asin, Op::Atanh};
  constexpr std::array kPositive{Op::Acosh, Op::Cbrt, Op::Lgamma, Op::Log,  Op::Log10,
                                 Op::Log1p, Op::Log2, Op::Rsqrt,  Op::Sqrt, Op::Tgamma};
  constexpr std::array kTwo{Op::Atan2, Op::Hypot, Op::Pow};
  draft.kinds.insert("function");
  switch (draft.random.below(5)) {
    case 0:
      return call(pick(draft, kEverywhere), type, {x}, false);
    case 1:
      return call(pick(draft, kNearZero), type, {clamped(type, x, 1)}, false);
    case 2:
      return call(pick(draft, kBelowOne), type, {clamped(type, x, 0.5)}, false);
    case 3:
      return call(pick(draft, kPositive), type, {positive(type, x)}, false);
    default:
      return call(pick(draft, kTwo), type, {positive(type, x), clamped(type, leaf(draft, type), 1)}, false);
  }
}

// Jumps between numbers: the argument must be the same in every kernel.
Value jump(Draft& draft, DType type) {
  constexpr std::array kUnary{Op::Ceil, Op::Floor, Op::Round, Op::Sign, Op::Trunc};
  const Value x = exact_leaf(draft, type);
  draft.kinds.insert("jump");
  if (draft.chance(20)) return call(Op::Copysign, type, {x, exact_leaf(draft, type)}, true);
  return call(pick(draft, kUnary), type, {x}, true);
}

Value comparison(Draft& draft, bool complex) {
  constexpr std::array kOps{Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge};
  const DType type = complex ? DType::C32 : ir::operation_type(pick(draft, kNumbers));
  draft.kinds.insert("comparison");
  return call(kOps[draft.random.below(complex ? 2 : kOps.size())], DType::Bool,
              {exact_leaf(draft, type), exact_leaf(draft, type)}, true);
}

Value random_bool(Draft& draft, int depth) {
  if (depth == 0) return leaf(draft, DType::Bool);
  switch (draft.random.below(4)) {
    case 0:
      return call(draft.chance(50) ? Op::And : Op::Or, DType::Bool,
                  {random_bool(draft, depth - 1), random_bool(draft, depth - 1)}, true);
    case 1:
      return call(Op::Not, DType::Bool, {random_bool(draft, depth - 1)}, true);
    default:
      return comparison(draft, draft.chance(10));
  }
}

// A read that only its condition keeps inside, alone in its branch or in some expression; beyond the border is 0, or
// anything else.
Value guarded(Draft& draft, DType type, int depth) {
  const auto [condition, holds, read] = random_guarded_read(draft, type);
  Value inside{read, is_exact(draft, *read)};
  if (draft.chance(30) && !is_complex(type) && type != DType::Bool)
    inside = call(Op::Add, type, {inside, random_value(draft, type, depth - 1)}, is_integer(type));
  const Value outside =
      draft.kind(50, "zero beyond a border") ? literal(type, 0) : random_value(draft, type, depth - 1);
  Value test{condition, true};
  // Data may ask for more.
  if (draft.chance(15)) {
    const Value more = random_bool(draft, 1);
    if (more.exact) test = call(holds ? Op::And : Op::Or, DType::Bool, {test, more}, true);
  }
  return call(Op::Select, type,
              holds ? std::vector<Value>{test, inside, outside} : std::vector<Value>{test, outside, inside}, true);
}

Value select(Draft& draft, DType type, int depth) {
  if (draft.chance(60)) return guarded(draft, type, depth);
  draft.kinds.insert("select");
  if (draft.chance(40))
    return call(Op::Select, type,
                {{random_index_condition(draft, 2), true},
                 random_value(draft, type, depth - 1),
                 random_value(draft, type, depth - 1)},
                true);
  Value condition = random_bool(draft, 1);
  if (!condition.exact) condition = random_literal(draft, DType::Bool);
  return call(Op::Select, type, {condition, random_value(draft, type, depth - 1), random_value(draft, type, depth - 1)},
              true);
}

Value random_complex(Draft& draft, DType type, int depth) {
  constexpr std::array kOps{Op::Add, Op::Sub, Op::Mul, Op::Mul};
  if (draft.chance(15)) return call(Op::Neg, type, {random_value(draft, type, depth - 1)}, true);
  if (draft.chance(10)) return call(Op::Div, type, {random_value(draft, type, depth - 1), literal(type, 2.5)}, false);
  return call(pick(draft, kOps), type, {random_value(draft, type, depth - 1), leaf(draft, type)}, false);
}

Value random_integer(Draft& draft, DType type, int depth) {
  constexpr std::array kBinary{Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max};
  constexpr std::array kUnary{Op::Neg, Op::Abs, Op::Relu, Op::Sign};
  const Value x = random_value(draft, type, depth - 1);
  if (draft.chance(20)) return call(pick(draft, kUnary), type, {x}, true);
  return call(pick(draft, kBinary), type, {x, random_value(draft, type, depth - 1)}, true);
}

Value random_float(Draft& draft, DType type, int depth) {
  constexpr std::array kBinary{Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::Min, Op::Max, Op::Fmin, Op::Fmax, Op::Fdim};
  constexpr std::array kUnary{Op::Neg, Op::Abs, Op::Relu};
  if (draft.chance(8)) return jump(draft, type);
  const Value x = random_value(draft, type, depth - 1);
  if (draft.chance(20)) return float_function(draft, type, x);
  if (draft.chance(15)) return call(pick(draft, kUnary), type, {x}, true);
  if (draft.chance(8)) return call(Op::Div, type, {x, positive(type, leaf(draft, type))}, false);
  const Value y = random_value(draft, type, depth - 1);
  if (draft.chance(6)) return call(Op::Fma, type, {x, y, leaf(draft, type)}, false);
  const Op op = pick(draft, kBinary);
  return call(op, type, {x, y}, op == Op::Min || op == Op::Max || op == Op::Fmin || op == Op::Fmax);
}

Value cast(Draft& draft, DType type, int depth) {
  draft.kinds.insert("cast");
  const DType from = is_complex(type) && draft.chance(50) ? (draft.chance(50) ? DType::C32 : DType::C64)
                                                          : (draft.chance(10) ? DType::Bool : pick(draft, kNumbers));
  Value value = random_value(draft, from, depth - 1);
  // To integers and truth values conversion jumps, and beyond their range it has no meaning in C.
  const bool from_float = is_float(from) || is_complex(from), to_float = is_float(type) || is_complex(type);
  if (from_float && !to_float) value = exact_leaf(draft, from);
  return {ir::make_expr(type, ir::Cast{value.expr}), value.exact};
}

// What tells the sign of a zero, with a theme of signs.
Value signed_value(Draft& draft, DType type, int depth) {
  constexpr std::array kSigns{Op::Neg, Op::Abs};
  draft.kinds.insert("sign");
  if (draft.chance(40))
    return call(Op::Div, type, {literal(type, 1), call(pick(draft, kSigns), type, {exact_leaf(draft, type)}, true)},
                false);
  if (draft.chance(30)) return call(Op::Copysign, type, {exact_leaf(draft, type), exact_leaf(draft, type)}, true);
  return call(pick(draft, kSigns), type, {random_value(draft, type, depth)}, true);
}

}  // namespace

Value themed_value(Draft& draft, DType type, int depth) {
  if (ir::operation_type(type) != type) {
    const Value value = themed_value(draft, ir::operation_type(type), depth);
    return {ir::make_expr(type, ir::Cast{value.expr}), value.exact};
  }
  switch (draft.theme) {
    case Theme::Guards: {
      const Value value = guarded(draft, type, std::max(depth, 1));
      // Which a sum leaves out where the condition does not hold.
      const bool is_factor = draft.statement.op == ir::Aggregation::Sum && type != DType::Bool && draft.chance(60);
      return is_factor ? call(Op::Mul, type, {value, leaf(draft, type)}, is_integer(type)) : value;
    }
    case Theme::Signs:
      return signed_value(draft, type, depth);
    case Theme::Gathers: {
      const ExprPtr read = random_new_read(draft, type);
      const Value gathered{read, is_exact(draft, *read)};
      if (type == DType::Bool || draft.chance(40)) return gathered;
      return call(Op::Mul, type, {gathered, random_value(draft, type, depth)}, is_integer(type));
    }
    default:
      return random_value(draft, type, depth);
  }
}

Value random_value(Draft& draft, DType type, int depth) {
  if (depth == 0 || draft.chance(25)) return leaf(draft, type);
  if (draft.chance(10)) return cast(draft, type, depth);
  // Half types only store numbers.
  if (ir::operation_type(type) != type) {
    const Value value = random_value(draft, ir::operation_type(type), depth);
    return {ir::make_expr(type, ir::Cast{value.expr}), value.exact};
  }
  if (draft.chance(10)) return select(draft, type, depth);
  if (type == DType::Bool) return random_bool(draft, depth);
  if (is_complex(type)) return random_complex(draft, type, depth);
  return is_float(type) ? random_float(draft, type, depth) : random_integer(draft, type, depth);
}

}  // namespace tile_tune::test
