// Schedules that were made for another size of a program, made to fit the sizes at hand.
//
// repair() changes as little as a valid schedule needs, which is right for a mutation. A tile of another size, though,
// may be valid and bad here: the last one is moved back to the border and computes anew what the one before it has (96
// of 100 elements: twice the work), and the blocks left may not share out among the threads.
#pragma once

#include <vector>

#include "search/space/repair.h"

namespace tile_tune::search {

/// What may vary where several ways to fit are plausible.
struct FitRules {
  bool keep_registers = true;     // else register tiles may shrink where they waste less
  bool whole_stays_whole = true;  // a reduction that was not cut into blocks is not cut here; else its blocks keep
                                  // their length, as what they hold was chosen for a cache
};

/// The stage of a schedule for `from`'s loops (its own statement at the other sizes), for the loops of `context`. The
/// result still wants repair().
codegen::NestSchedule fit(const StageContext& context, const codegen::Loops& from, codegen::NestSchedule stage,
                          const FitRules& rules);

}  // namespace tile_tune::search
