// Indices of which constraints leave less than their range, in runs of the loops that have all of the others or a part.
#include "codegen/schedule/cut_indices.h"

#include <catch2/catch.hpp>

namespace tile_tune::codegen {
namespace {

ir::Statement statement_of(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  ir::Statement statement;
  for (const auto& [lo, hi] : ranges) {
    ir::Index index;
    index.lo = ir::SizeExpr(lo);
    index.hi = ir::SizeExpr(hi);
    statement.indices.push_back(index);
  }
  return statement;
}

void constrain(ir::Statement& statement, int64_t constant, const std::vector<std::pair<int, int64_t>>& terms,
               int64_t bound) {
  ir::Constraint constraint;
  constraint.expr.constant = ir::SizeExpr(constant);
  constraint.expr.terms = terms;
  constraint.bound = ir::SizeExpr(bound);
  statement.constraints.push_back(constraint);
}

using Flags = std::vector<bool>;

}  // namespace

TEST_CASE("a window over padding is whole unless it is read row by row") {
  auto statement = statement_of({{0, 8}, {0, 3}});
  constrain(statement, -1, {{0, 1}, {1, 1}}, 8);  // 0 <= h + r - 1 < 8
  CHECK(cut_indices(statement, {false, false}) == Flags{false, false});
  CHECK(cut_indices(statement, {true, false}) == Flags{true, true});  // h = 0 has no r = 0
  CHECK(cut_indices(statement, {false, true}) == Flags{true, true});
  CHECK(cut_indices(statement, {true, true}) == Flags{true, true});
}

TEST_CASE("a bound on one index cuts it, whatever the loops") {
  auto statement = statement_of({{0, 8}, {1, 5}});
  constrain(statement, -1, {{1, 1}}, 2);
  CHECK(cut_indices(statement, {false, false}) == Flags{false, true});
  CHECK(is_constrained(statement, 1));
  CHECK(!is_constrained(statement, 0));
}

TEST_CASE("negative steps, and bounds that hold everywhere") {
  auto statement = statement_of({{0, 6}, {0, 9}});
  constrain(statement, 8, {{1, -1}}, 9);  // 0 <= 8 - k < 9
  CHECK(cut_indices(statement, {true, true}) == Flags{false, false});
  constrain(statement, 0, {{0, 2}, {1, -3}}, 11);  // at k = 8 no i is left
  CHECK(cut_indices(statement, {false, false}) == Flags{true, true});
}

TEST_CASE("what one constraint cuts is a part to the next one") {
  auto statement = statement_of({{0, 10}, {0, 10}, {0, 4}});
  constrain(statement, -5, {{0, 1}, {1, 1}}, 20);  // i + r >= 5
  CHECK(cut_indices(statement, {false, false, false}) == Flags{false, false, false});
  constrain(statement, 0, {{1, -1}, {2, 1}}, 10);  // r <= j, of which there are 4
  CHECK(cut_indices(statement, {false, false, false}) == Flags{true, true, true});
}

}  // namespace tile_tune::codegen
