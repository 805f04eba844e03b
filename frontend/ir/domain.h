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

/// Checks that every affine read stays inside its tensor for every point of the domain, that writes do,
/// and that no range is empty. A zero size excuses empty ranges (a statement over one does nothing):
/// `zero_sized` says that a size was given as 0, an input extent of 0 shows it anyway. The first failure names
/// the subscript, its value range and the extent. Class Mismatch, placed at the statement where it has a place.
Result<void> check_domains(const Program& program, bool zero_sized = false);

}  // namespace tile_tune::ir
