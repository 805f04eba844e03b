// Where a part of a statement's value is used: the branches of the selects around it, as formulas over the indices.
//
// What stands in a branch counts only where the branch is taken, so a read there needs to be inside its tensor only
// there. Only what can be decided beforehand protects a read: comparisons of affine expressions of indices and sizes,
// joined by and, or, not and nested selects. A condition on data is taken to hold and to fail everywhere.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// One branch on the way from a statement's value to a part of it: that of the select's true value, or the other one.
struct Branch {
  const Expr* condition;
  bool holds;
};
using Path = std::vector<Branch>;  // outermost first

/// Visits every read with its path, in for_each_read()'s order. Reads in subscripts have the path of theirs.
void for_each_read_on_path(const Expr& value, const std::function<void(const Read&, const Path&)>& visit);

/// A combination of affine comparisons, without negations.
struct Formula {
  enum class Kind { NotNegative, All, Any } kind = Kind::All;  // All of nothing is true, Any of nothing false
  AffineExpr expr;                                             // NotNegative: expr >= 0, without a denominator
  std::vector<Formula> parts;

  static Formula truth() { return {}; }
  static Formula falsehood() { return {Kind::Any, {}, {}}; }
  bool is_true() const { return kind == Kind::All && parts.empty(); }
  bool is_false() const { return kind == Kind::Any && parts.empty(); }
};

/// The condition, or its negation, where indices and sizes alone decide it; nullopt else. Of a bound statement
/// (`statement` not null) comparisons whose arithmetic could wrap in its type decide nothing.
std::optional<Formula> formula_of(const Expr& condition, bool holds, const Statement* statement = nullptr);

/// What indices and sizes alone say of a path: it is not taken where this does not hold.
Formula formula_of(const Path& path, const Statement* statement = nullptr);

/// Numbers of the indices that a formula mentions, ascending.
std::vector<int> indices_of(const Formula& formula);

/// Numbers of the indices, ascending, that conditions of a bound statement's selects mention where indices and sizes
/// alone decide these: along them the statement's points are not all alike.
std::vector<int> guarding_indices(const Statement& statement);

/// Whether a formula without sizes holds for these values of the indices, by number.
bool holds_at(const Formula& formula, const std::vector<int64_t>& point);

}  // namespace tile_tune::ir
