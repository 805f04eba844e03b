// A small odd-sized instance of a program: where the full result of a big one is too long to compute by the
// reference, the same schedule, adapted, is checked in full on this one.
#pragma once

#include <optional>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// `program` at primes no tile divides instead of `sizes`; sizes up to 16 keep their value, unless there are so many
/// that only smaller ones help. Where the sizes are numbers in the program itself these are made small (shrink.h).
/// Canonical. Nothing if no choice of primes gives a valid program, or none that differs.
std::optional<ir::Program> small_variant(const ir::Program& program, const ir::Sizes& sizes);

}  // namespace tile_tune::search
