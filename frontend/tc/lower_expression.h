// Expressions of one statement to IR: names, types with explicit casts, subscripts, and what they assert.
#pragma once

#include <vector>

#include "frontend/ir/path_condition.h"
#include "frontend/tc/builtins.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/ranges.h"
#include "frontend/tc/scope.h"

namespace tile_tune::tc {

/// Longest text of a size expression: longer ones are no program anyone reads, and their arithmetic compares texts.
inline constexpr size_t kMaxSizeText = 1000;

/// A typed expression. A flexible one is made of literals only and still takes the type of what it meets.
struct Lowered {
  enum class Flexible { No, Int, Float };
  ir::ExprPtr expr;
  DType natural;  // the type without widening: what a declared type must hold
  int depth = 1;
  Flexible flexible = Flexible::No;
};

/// Lowers the expressions of one statement. Lets are inlined; resolve_names() has checked all names.
class Lowering {
 public:
  /// `widens`: arithmetic on f16, bf16 and 8- and 16-bit integers is done in their accumulator's type, because
  /// a sum or product consumes the result ("rounded once"). In subscripts it always is.
  Lowering(const Source& source, const DefScope& def, const StatementScope& scope, Budget& budget, bool widens)
      : source_(source), def_(def), scope_(scope), budget_(budget), widens_(widens) {}

  /// Type-checked value. Reads add to bounds().
  Result<Lowered> value(const ast::Expr& expr);

  /// An end of a where clause's range: sizes and whole numbers only.
  Result<ir::SizeExpr> range_end(const ast::Expr& expr);

  /// The expression as an affine function of the indices, with sizes in the constant; nullopt if it is none.
  Result<std::optional<ir::AffineExpr>> affine(const ast::Expr& expr);

  /// A flexible expression in the type it meets; others stay. `type` must suit: no float literal as integer.
  Result<Lowered> settle(const Lowered& value, DType type, Span span) const;
  /// ... in the type it has when it meets nothing: int32 (int64 where needed) or float32.
  Result<Lowered> settle(const Lowered& value, Span span) const;

  /// What all subscripts lowered so far assert, but for those that a condition around them guards.
  const std::vector<SubscriptBound>& bounds() const { return bounds_; }
  /// Of reads in branches: those that bound nothing, because their condition mentions an index of the subscript.
  const std::vector<SubscriptBound>& guarded_bounds() const { return guarded_bounds_; }

 private:
  struct Operand {
    Lowered value;
    Span span;
  };
  /// Operands converted to their common type; flexible if all are.
  struct Unified {
    std::vector<ir::ExprPtr> arguments;
    DType type = DType::F32, natural = DType::F32;
    int depth = 0;
    Lowered::Flexible flexible = Lowered::Flexible::No;
  };

  Result<Lowered> dispatch(const ast::Expr& expr);
  Result<Lowered> identifier(const ast::Name& name);
  Result<Lowered> operation(const ast::Expr& expr, const ast::Operation& operation);
  /// What stood in parentheses, if it is a product.
  void keep_group(Lowered& value) const;
  Result<Lowered> arithmetic(const ast::Expr& expr, ir::Op op, std::vector<Operand> operands,
                             Builtin::Typing typing = Builtin::Typing::Keeps);
  Result<Lowered> comparison(const ast::Expr& expr, ir::Op op, std::vector<Operand> operands);
  Result<Lowered> logic(const ast::Expr& expr, ir::Op op, std::vector<Operand> operands);
  Result<Lowered> select(const ast::Expr& expr, const std::vector<ast::ExprPtr>& arguments);
  Result<std::vector<Operand>> branches(const ast::Expr& condition, const ast::Expr& yes, const ast::Expr& no);
  Result<Lowered> builtin(const ast::Expr& expr, const Builtin& builtin, const ast::Apply& apply);
  Result<Lowered> cast(const ast::Expr& expr, const ast::Cast& cast);
  Result<Lowered> read(const ast::Expr& expr, const ast::Name& name, const std::vector<ast::ExprPtr>& subscripts);
  Result<ir::Subscript> subscript(const ast::Expr& expr, SubscriptBound bound, int& depth);

  Result<std::vector<Operand>> operands(const std::vector<ast::ExprPtr>& arguments);
  /// Which of their types arithmetic does not stay in, because 8- and 16-bit integers always are widened first and
  /// f16 and bf16 where a sum or product consumes the result (decision 1).
  enum class Widening { None, Integers, All };
  Widening widening(ir::Op op) const;
  Result<Unified> unify(const std::vector<Operand>& operands, Builtin::Typing typing, Widening widening) const;
  Result<Lowered> check_depth(Lowered value, Span span) const;
  Result<void> require_bool(const Operand& operand) const;

  Result<std::optional<ir::AffineExpr>> affine_dispatch(const ast::Expr& expr);
  Result<std::optional<ir::AffineExpr>> affine_name(std::string_view name);
  Result<std::optional<ir::AffineExpr>> affine_operation(ir::Op op, const std::vector<ast::ExprPtr>& arguments,
                                                         Span span);
  /// 0 <= X / c < extent bounds X, though the subscript X / c is not affine.
  Result<void> bound_quotient(const ast::Expr& expr, SubscriptBound bound);
  /// The subscript bounds its indices unless a condition around the read mentions one of them.
  void add_bound(SubscriptBound bound);
  Result<void> refuse_range_end(const ast::Expr& expr);

  Place place(Span span) const { return source_.place(span); }
  /// Runs a rule one level deeper. All recursion, lets included, passes here and pays for it.
  template <typename Rule>
  auto nested(Span span, Rule rule) -> decltype(rule()) {
    if (depth_ >= ast::kMaxDepth) return errors::too_deep(place(span), ast::kMaxDepth);
    if (!budget_.spend()) return errors::too_complicated(place(span));
    ++depth_;
    auto result = rule();
    --depth_;
    return result;
  }

  const Source& source_;
  const DefScope& def_;
  const StatementScope& scope_;
  Budget& budget_;
  bool widens_;
  bool in_subscript_ = false;
  int depth_ = 0;
  std::vector<SubscriptBound> bounds_, guarded_bounds_;
  ir::Path path_;  // of what is being lowered
};

}  // namespace tile_tune::tc
