// Syntax trees of Tensor Comprehensions. Names and numbers are views into the source text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/tc/source_text.h"

namespace tile_tune::tc::ast {

/// Deepest expression, and so the longest chain of operators: what walks syntax trees recurses, with 1 to 2 KiB of
/// stack a level (2,000 levels need between 2 and 4 MiB). These fit 8 MiB even with the frames of a sanitizer.
inline constexpr int kMaxDepth = 1200;
static_assert(kMaxDepth <= ir::kMaxExprDepth);
/// Most parentheses, calls and unary operators inside each other: parsing them takes several times the stack.
inline constexpr int kMaxNesting = 200;

struct Name {
  std::string_view text;
  Span span;
};

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

struct Number {
  std::string_view text;
  std::variant<int64_t, double> value;
};
struct Identifier {
  std::string_view name;
};
/// Tensor read or built-in function: which one only the names in scope tell.
struct Apply {
  Name name;
  std::vector<ExprPtr> arguments;
};
/// Operators, the conditional (Select) and minus and ! (Neg, Not) included.
struct Operation {
  ir::Op op;
  std::vector<ExprPtr> arguments;
  bool left_in_parentheses = false, right_in_parentheses = false;  // of two arguments
};
struct Cast {
  DType type;
  ExprPtr argument;
};

struct Expr {
  Span span;
  std::variant<Number, Identifier, Apply, Operation, Cast> node;
  int depth = 1;  // 1 for a leaf
};

struct RangeClause {
  Name index;
  ExprPtr lo, hi;  // half-open
};
struct LetClause {
  Name name;
  ExprPtr value;
};
struct ExistsClause {
  ExprPtr value;
};
using Clause = std::variant<RangeClause, LetClause, ExistsClause>;

struct Statement {
  Span span;
  Name target;
  std::vector<Name> subscripts;
  bool has_parentheses = false;  // "m() = ..." rather than "m = ..."
  ir::Aggregation op = ir::Aggregation::Assign;
  bool initialises = true;  // "=" and the operators with "!"
  std::string_view op_text;
  ExprPtr value;
  std::vector<Clause> where;
};

/// A number or the name of a symbolic size.
struct Dim {
  std::variant<int64_t, Name> size;
  Span span;
};
struct Type {
  DType scalar;
  std::vector<Dim> dims;
};
/// A parameter, or an output, whose type may be left out.
struct Declaration {
  std::optional<Type> type;
  Name name;
};

struct Def {
  Span span;
  Name name;
  std::vector<Declaration> inputs, outputs;
  std::vector<Statement> body;
};

}  // namespace tile_tune::tc::ast
