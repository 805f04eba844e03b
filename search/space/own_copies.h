// Copies that all threads read, made by each thread for itself.
#pragma once

#include "search/space/repair.h"

namespace tile_tune::search {

/// Gives each thread one block of the first parallel loop and copies of its own, made at the block's start, where the
/// copies are made before all and that loop walks none of them. The stage must be repaired, with no other in its loops.
void copy_for_each_thread(const StageContext& context, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
