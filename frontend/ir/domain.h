// Exact iteration domains of bound programs, by integer sets (isl stays behind this header).
//
// A statement's domain is the set of index assignments its ranges, constraints and divisibility allow.
// isl's operation count is limited; reaching the limit is an error that says so, never a hang.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Number of points in the statement's domain, exact up to 2^53. Fails (class Failure) when constraints tie
/// indices together and these take more than about 50,000 values, the last of them not counted.
Result<double> domain_size(const Program& program, const Statement& statement);

/// The least to the greatest value of an affine expression over the domain of a bound statement, exact; empty where the
/// domain is.
Result<Range> value_range(const Statement& statement, const AffineExpr& expr);

/// Checks that every affine read stays inside its tensor for every point of the domain, that writes do, that no two
/// assignments of a statement with '=' write one element (even with equal values: "assigned-twice"), that the statement
/// has a gather form (gather.h), and that no range is empty. A zero size excuses empty ranges (a statement over one
/// does nothing): `zero_sized` says that a size was given as 0, an input extent of 0 shows it anyway. The first failure
/// names the subscript, its value range and the extent. Class Mismatch, placed at the statement where it has a place.
Result<void> check_domains(const Program& program, bool zero_sized = false);

/// Derives every index's range, the tightest box around the statement's domain, from the accesses and constraints
/// alone (docs/edsl.md): each affine subscript, the target's included, is an integer inside
/// its tensor's extent, each constraint holds. `lo`, `hi` and `reason` of every index are set; `constraints` becomes
/// those the box does not imply, the accesses' own among them. All extents must be numbers. Returns true if the domain
/// is empty: the ranges are then [0, 0), and impossible() is the only constraint, so that bind() does not take them for
/// a mistake and nothing is written (program.h). Errors, class Program: an index that stays unbounded
/// ("unbounded-index": names it and a direction in which it is free); isl's limit.
Result<bool> infer_domain(const Program& program, Statement& statement);

/// The constraint that no assignment satisfies, 0 <= -1 < 1.
Constraint impossible();
/// True if a constraint without indices does not hold, as impossible() does not: the statement writes nothing.
bool writes_nothing(const Statement& statement);
/// True if it bounds an index without values. A reduction over nothing assigns only starts (program.h), and such a
/// constraint says nothing of where.
bool is_vacuous(const Statement& statement, const Constraint& constraint);

/// Whether each element of a bound statement's target is written by some assignment of its indices. False also of
/// statements that are not plain (gather.h), and where isl's limit leaves it open.
bool writes_all(const Program& program, const Statement& statement);

/// Two assignments of a bound statement's indices that write one element, by index number; nullopt if there are none.
struct Collision {
  std::vector<int64_t> first, second;  // values of the indices
  std::vector<int64_t> element;
};
Result<std::optional<Collision>> find_collision(const Program& program, const Statement& statement);

/// Numbers of the indices, ascending, that subscripts of a bound statement's target use but an element does not tell:
/// assignments that write one element differ in them, as in both of O(i + j). An index of which isl's limit leaves that
/// open is among them. Fails as gather_form() does, which bind() has checked.
Result<std::vector<int>> shared_indices(const Program& program, const Statement& statement);

}  // namespace tile_tune::ir
