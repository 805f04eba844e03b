// What a stage may ask for ahead of its use (Prefetch, schedule.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/figure.h"

namespace tile_tune::codegen {

/// The most iterations ahead.
constexpr int kMostAhead = 64;

/// Bytes between what is loaded and what is asked for, at least one line. nullopt if the prefetch
/// is none: only elements of an input, read from where the caller has them, in vectors of neighbours, can be asked for,
/// and only along a loop that moves them. `loops` are those of one piece of a parallel reduction.
std::optional<int64_t> bytes_ahead(const ir::Program& program, const Loops& loops, const NestSchedule& stage,
                                   const Prefetch& prefetch);

/// What is wrong with those of a stage, in one sentence; empty if nothing is.
std::string prefetch_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage);

/// The share of the operands asked for ahead of their use, and how far in bytes, at most.
std::vector<Figure> prefetch_figures();

}  // namespace tile_tune::codegen
