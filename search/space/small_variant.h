// A small odd-sized instance of a program: where the full result of a big one is too long to compute by the
// reference, the same schedule, adapted, is checked in full on this one.
#pragma once

#include <optional>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// `program` with symbolic sizes, bound to primes no tile divides; sizes up to 16 keep their value. Canonical.
/// Nothing if no choice of primes binds, or the program is as small already.
std::optional<ir::Program> small_variant(const ir::Program& program, const ir::Sizes& sizes);

}  // namespace tile_tune::search
