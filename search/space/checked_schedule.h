// Schedules of programs that look at their indices (ir/index_checks.h), from those of the programs that do not.
#pragma once

#include "codegen/schedule/schedule.h"
#include "codegen/target/costs.h"
#include "frontend/ir/program.h"

namespace tile_tune::search {

/// `schedule`, of a program of which `checked` is with_index_checks(), for that: its stages as they are, those of the
/// checks by default. Where a check reads what the schedule computes inside another's loops, that is computed before.
/// Checks of many indices run in turn with what uses them, on as many at a time as `piece_bytes` hold.
codegen::Schedule with_index_checks(const ir::Program& checked, const codegen::Schedule& schedule,
                                    const codegen::Target& target, int64_t piece_bytes = codegen::costs::kCheckedPiece);

}  // namespace tile_tune::search
