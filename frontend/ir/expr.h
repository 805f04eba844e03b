// Scalar expressions of the IR: what one iteration of a statement computes.
//
// Immutable trees, shared by pointer. Every node carries its element type; front ends insert Cast nodes
// so that the operands of an arithmetic node have the node's type (comparisons: equal operand types).
// Semantics: floats as IEEE of their type; integers wrap in their own width; Div and Mod on integers
// floor (Mod has the divisor's sign), division by zero of integers gives 0; Min/Max/comparisons follow
// IEEE except that Min and Max give NaN when either operand is NaN (as numpy does).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/ir/size_expr.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::ir {

/// (sum of coefficient * index + constant) / denominator over the indices of one statement. With a
/// denominator other than 1 the value must be an integer for the assignment to be valid (Tile, rule 2).
struct AffineExpr {
  std::vector<std::pair<int, int64_t>> terms;  // (index number, non-zero coefficient), sorted by number
  SizeExpr constant = 0;
  int64_t denominator = 1;

  static AffineExpr index(int number) { return {{{number, 1}}, 0, 1}; }
  int64_t coefficient(int number) const;
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// A subscript is affine where it can be, else any integer expression (gathers, / and % of indices).
using Subscript = std::variant<AffineExpr, ExprPtr>;

// clang-format off
enum class Op {
  // arithmetic
  Add, Sub, Mul, Div, Mod, Neg, Min, Max,
  // comparisons give Bool; And, Or, Not take and give Bool
  Eq, Ne, Lt, Le, Gt, Ge, And, Or, Not,
  Select,  // (condition, if true, if false)
  // functions of one argument
  Abs, Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Ceil, Cos, Cosh, Erf, Erfc, Exp, Exp2, Exp10, Expm1,
  Floor, IsNan, Lgamma, Log, Log10, Log1p, Log2, Relu, Round, Rsqrt, Sigmoid, Sign, Sin, Sinh, Sqrt, Tan,
  Tanh, Tgamma, Trunc,
  // of two (Fmin and Fmax ignore a NaN operand, as C does)
  Atan2, Copysign, Fdim, Fmax, Fmin, Fmod, Hypot, Pow,
  // of three
  Fma,
  // of one, which is complex
  Conj,
};
// clang-format on
std::string_view op_name(Op op);  // "add", "exp2", ...; what JSON and canonical text use
std::optional<Op> parse_op(std::string_view name);
size_t op_arity(Op op);  // number of arguments

bool is_comparison(Op op);
/// Complex numbers know + - * / == !=, negation, conj and select (decision 2).
bool works_on_complex(Op op);
/// What an arithmetic operation is on bools: sums are or, products and (decision 2); nullopt where they have none.
/// Comparisons, logic and select are themselves.
std::optional<Op> on_bools(Op op);

/// Deepest expression a program may hold (a literal has depth 1; a sum of n terms is n deep): what walks expressions
/// recurses. Parsing, evaluating and compiling a sum of 2,000 terms fits a stack of 4 MiB, half of what a process has.
inline constexpr int kMaxExprDepth = 2000;

/// bool for Bool, int64_t for integers (U64 as its bit pattern), double or int64_t for floats and complex.
struct Literal {
  std::variant<bool, int64_t, double> value;
};
/// The index variable's value.
struct IndexValue {
  int index;
};
struct SizeValue {
  SizeExpr size;
};
struct Read {
  int tensor;
  std::vector<Subscript> subscripts;
};
struct Call {
  Op op;
  std::vector<ExprPtr> arguments;
};
/// To the node's type, as docs/meaning.md has it.
struct Cast {
  ExprPtr argument;
};

struct Expr {
  DType type;
  std::variant<Literal, IndexValue, SizeValue, Read, Call, Cast> node;
};

template <typename Node>
ExprPtr make_expr(DType type, Node node) {
  return std::make_shared<const Expr>(Expr{type, std::move(node)});
}

/// Of this type; false of bools.
ExprPtr zero(DType type);

/// Numbers of the indices an expression uses, in subscripts too, ascending.
std::vector<int> indices_of(const Expr& expr);

/// Visits every read in an expression, those inside subscripts after the read they belong to.
void for_each_read(const Expr& expr, const std::function<void(const Read&)>& visit);

}  // namespace tile_tune::ir
