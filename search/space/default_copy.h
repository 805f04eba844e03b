// Defaults of statements that sum nothing: in which order elements are read and written.
#pragma once

#include <optional>

#include "search/space/nest_model.h"

namespace tile_tune::search {

/// Blocks of vectors along what is read by as many neighbours of the target, which are transposed in registers
/// (codegen/lower/transposes.h); nullopt where the statement reads and writes neighbours along one loop, or reads much
/// less than it writes.
std::optional<codegen::NestSchedule> transposing_stage(const NestModel& model);

/// What an operand has between neighbours of the target is stored as well while it is at hand: 12288 x 3 to 3 x 12288
/// took 5.8 us row by row, 2.7 so (Zen 4, 2026-11-27).
void use_whole_runs(const NestModel& model, codegen::NestSchedule& stage);

/// An element-wise statement whose operand and target are neighbours along one loop, but for less than a line, and then
/// along others: tiles as wide as a line in the operand's next loop and in the target's, so that lines are used as a
/// whole before they are lost. (144 x 128 x 2) to (128 x 144 x 2): 17 us pair by pair, 5.1 in blocks of 4 x 4 pairs and
/// more (Zen 4, 2026-11-27).
void use_whole_lines(const NestModel& model, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
