// A program that is being made up: what the parts of the generator share.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "frontend/ir/program.h"
#include "search/space/rng.h"
#include "tests/property/programs/generator.h"

namespace tile_tune::test {

struct Draft {
  Draft(uint64_t seed, Theme chosen) : random(seed), theme(chosen) {}

  search::Rng random;
  Theme theme;
  ir::Program program;
  ir::Statement statement;  // the one that is being made up
  std::vector<bool> exact;  // by tensor: the reference and any kernel hold the same numbers
  std::set<std::string> kinds;

  int64_t between(int64_t lo, int64_t hi) { return lo + static_cast<int64_t>(random.below(hi - lo + 1)); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  bool kind(int percent, const std::string& name) {
    const bool chosen = chance(percent);
    if (chosen) kinds.insert(name);
    return chosen;
  }
  int add_tensor(DType type, std::vector<ir::SizeExpr> extents, ir::Role role);
};

/// Smallest and largest value of the numerator of `expr` over the statement's ranges; an empty range counts as its lo.
struct Box {
  int64_t lo, hi;
};
Box box_of(const ir::Statement& statement, const ir::AffineExpr& expr);

/// A read of a tensor of this type, of a new input or of what is there already.
ir::ExprPtr random_read(Draft& draft, DType type);

/// A read of a new input.
ir::ExprPtr random_new_read(Draft& draft, DType type);

/// A read that may leave its tensor, and a condition on indices, or its negation, under which it is inside.
struct GuardedRead {
  ir::ExprPtr condition;
  bool holds;
  ir::ExprPtr read;
};
GuardedRead random_guarded_read(Draft& draft, DType type);

/// A comparison of affine expressions of indices, or several of them joined.
ir::ExprPtr random_index_condition(Draft& draft, int depth);

/// A value of this type; `exact` is whether every kernel computes the very same.
struct Value {
  ir::ExprPtr expr;
  bool exact;
};
Value random_value(Draft& draft, DType type, int depth);
/// The same with what the theme asks for.
Value themed_value(Draft& draft, DType type, int depth);

}  // namespace tile_tune::test
