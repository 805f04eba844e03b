// Sets of integer points given by affine relations, by isl: what domain.h, gather.h and infer_domain() are made of.
//
// Private to frontend/ir. The operations of isl are limited for all that one analysis asks together, and coefficients
// are limited, too: an analysis ends within about a second, at worst with an error that says what was too large.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frontend/ir/path_condition.h"
#include "frontend/ir/program.h"

struct isl_ctx;
struct isl_set;

namespace tile_tune::ir {

struct Interval {
  int64_t lo, hi;  // both inclusive
};

/// What restricts a domain: expr is an integer and, with a bound, 0 <= expr < bound.
struct Relation {
  AffineExpr expr;
  std::optional<int64_t> bound;
};

/// Ranges of all indices of a statement.
using Box = std::vector<Range>;
Box box_of(const Statement& statement);

/// Values the numerator takes over a box whose ranges are not empty. Exact: an affine expression attains its
/// extremes at corners. nullopt where they exceed 64 bits.
std::optional<Interval> numerator_over_box(const Box& box, const AffineExpr& expr);

/// The integers among numerator / denominator.
Interval divide(const Interval& numerator, int64_t denominator);

/// True if the box alone keeps the expression in [0, bound); whether it is an integer is another matter.
bool inside_over_box(const Box& box, const AffineExpr& expr, int64_t bound);

/// Every affine subscript: the target's, then those of the value's reads, gathers' own among them.
struct AffineAccess {
  int tensor;
  size_t dimension;
  const AffineExpr* subscript;
  const Read* read;  // null for the target
};
std::vector<AffineAccess> affine_accesses(const Statement& statement);

/// All relations of a bound statement but those its ranges imply, the quotients of its accesses among them; for a
/// plain box none is left. No range may be empty.
std::vector<Relation> relations_of(const Statement& statement);

bool same_expr(const AffineExpr& a, const AffineExpr& b);

/// The relations, all with bounds, as constraints: without those that the box implies, and of several on one
/// expression the tightest. A box implies nothing of an expression with a denominator but `known_integer` ones.
std::vector<Constraint> needed_constraints(const Box& box, const std::vector<Relation>& relations,
                                           const std::function<bool(const AffineExpr&)>& known_integer);

/// Groups of indices that relations tie together, with these relations; indices in no relation are left out.
struct Group {
  std::vector<int> members;
  std::vector<Relation> relations;
};
std::vector<Group> tied_groups(const std::vector<Relation>& relations);

/// The operations that the sets of one analysis share. At their limit every set of it fails from then on.
class Operations {
 public:
  Operations();

 private:
  friend class IntegerSet;
  struct Free {
    void operator()(isl_ctx* context) const;
  };
  std::unique_ptr<isl_ctx, Free> context_;
};

/// The points of some indices for which relations over them hold. Results fail with "domain-too-complex" (class
/// Failure) at the limit of operations and with "size-overflow" (class Mismatch) where numbers are too large.
class IntegerSet {
 public:
  /// `members` are the numbers of the indices that the relations and the formula are over; with a box they stay inside
  /// their ranges. The operations outlive the set.
  IntegerSet(Operations& operations, std::vector<int> members, const std::vector<Relation>& relations,
             const Box* box = nullptr, const Formula& where = Formula::truth());

  /// Raises the limit of the operations: counting takes more of them.
  Result<double> count() const;
  Result<bool> is_empty() const;
  /// Least and greatest value of the numerator over the set, which is neither empty nor unbounded.
  Result<Interval> numerator_bounds(const AffineExpr& expr) const;
  /// Whether every point of these members' ranges has a point of the set above it.
  Result<bool> covers(const std::vector<int>& members, const Box& box) const;
  /// A point, in the order of the members; nullopt if there is none.
  Result<std::optional<std::vector<int64_t>>> sample() const;

 private:
  Result<void> status(bool succeeded) const;

  struct FreeSet {
    void operator()(isl_set* set) const;
  };
  std::vector<int> members_;
  bool too_large_;
  isl_ctx* context_;
  std::unique_ptr<isl_set, FreeSet> set_;
};

/// The tightest box around the points for which the relations hold; nullopt if there are none. Every one of `count`
/// indices must be bounded by the relations.
Result<std::optional<Box>> tight_box(size_t count, const std::vector<Relation>& relations);

}  // namespace tile_tune::ir
