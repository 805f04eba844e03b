// The default schedule of a whole program: which statements share a nest, and its blocks.
#pragma once

#include "search/space/repair.h"

namespace tile_tune::search {

codegen::Schedule default_schedule(const std::vector<StageContext>& stages);

/// What default_schedule() makes with the next best nest of one statement (default_stages()); distinct from it and from
/// one another.
std::vector<codegen::Schedule> default_alternatives(const std::vector<StageContext>& stages);

}  // namespace tile_tune::search
