// Scalar expressions of the IR: what one iteration of a statement computes.
//
// Immutable trees, shared by pointer. Every node carries its element type; front ends insert Cast nodes
// so that the operands of an arithmetic node have the node's type (comparisons: equal operand types).
// Semantics: floats as IEEE of their type; integers wrap in their own width; Div and Mod on integers
// floor (Mod has the divisor's sign), division by zero of integers gives 0; Min/Max/comparisons follow
// IEEE except that Min and Max give NaN when either operand is NaN (as numpy does).
#pragma once

#include <cstdint>
#include <memory>
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

enum class Op {
  // arithmetic
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Neg,
  Min,
  Max,
  // comparisons give Bool; And, Or, Not take and give Bool
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Not,
  Select,  // (condition, if true, if false)
  // functions of one argument
  Abs,
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  Cbrt,
  Ceil,
  Cos,
  Cosh,
  Erf,
  Erfc,
  Exp,
  Exp2,
  Exp10,
  Expm1,
  Floor,
  IsNan,
  Lgamma,
  Log,
  Log10,
  Log1p,
  Log2,
  Relu,
  Round,
  Rsqrt,
  Sigmoid,
  Sign,
  Sin,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
  Tgamma,
  Trunc,
  // of two (Fmin and Fmax ignore a NaN operand, as C does)
  Atan2,
  Copysign,
  Fdim,
  Fmax,
  Fmin,
  Fmod,
  Hypot,
  Pow,
  // of three
  Fma,
};
std::string_view op_name(Op op);  // "add", "exp2", ...; what JSON and canonical text use

struct Literal {
  std::variant<bool, int64_t, double> value;
};
struct IndexValue {
  int index;
};  // the index variable's value
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
struct Cast {
  ExprPtr argument;
};  // to the node's type; C rules, float to int truncates

struct Expr {
  DType type;
  std::variant<Literal, IndexValue, SizeValue, Read, Call, Cast> node;
};

template <typename Node>
ExprPtr make_expr(DType type, Node node) {
  return std::make_shared<const Expr>(Expr{type, std::move(node)});
}

}  // namespace tile_tune::ir
