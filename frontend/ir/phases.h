// Target subscripts `m*i + k` taken apart into a quotient and a phase (private to frontend/ir).
//
// An element o = m*i + k is written by one i in m at most, so a reduction over all i with a guard would mostly fail.
// With k = m*s + p, 0 <= p < m, and q = i + s the element is o = m*q + p: its phase p and quotient q are indices of
// their own, and what remains to reduce is s, as many as k has multiples of m. Transposed convolutions, up-sampling and
// unpooling have this form.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// A statement whose target subscripts were taken apart: subscript d of the original is
/// radix[d] * subscripts[place[d]] + subscripts[place[d] + 1] + constant[d], or, with radix 1, subscripts[place[d]].
struct Phases {
  Statement statement;  // its subscripts are not the target's dimensions
  std::vector<int64_t> radix;
  std::vector<SizeExpr> constant;
  std::vector<size_t> place;
};

/// nullopt where no subscript gains by it. Ranges must not be empty.
std::optional<Phases> split_phases(const Statement& statement);

/// `phases.statement`, by now over other indices, as a statement over the target's dimensions; nullopt where a quotient
/// or a phase is not an index of its own.
std::optional<Statement> join_phases(Statement statement, const Phases& phases);

}  // namespace tile_tune::ir
