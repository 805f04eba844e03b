// Programs whose sizes are numbers only, made small: from the eDSL, or saved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// Sizes no tile divides, given to a program's own in turn.
struct SmallSizes {
  std::array<int64_t, 4> primes;
  int64_t kept;  // the largest size that keeps its value
};

/// A bound program with every number of its shapes, ranges and subscripts, and every size in its values, above
/// `small.kept` replaced by a smaller one: equal numbers by equal ones, numbers close to another or a small part of it
/// (the results of a window, of a pool) by what keeps them so. Where ranges then leave a tensor they are inferred anew
/// (ir/domain.h). Nothing if there is no such number, or what comes out is no valid program.
std::optional<ir::Program> shrunk(const ir::Program& bound, const SmallSizes& small);

}  // namespace tile_tune::search
