// The default schedule of a whole program: which statements share a nest, and its blocks.
#pragma once

#include "search/space/repair.h"

namespace tile_tune::search {

codegen::Schedule default_schedule(const std::vector<StageContext>& stages);

}  // namespace tile_tune::search
