// Results that no cache holds are stored past the caches.
#pragma once

#include "search/space/repair.h"

namespace tile_tune::search {

/// Whether stores of the stage can leave the caches out, and there is a cache that cannot hold them all.
bool can_stream(const StageContext& context, const codegen::NestSchedule& stage);

/// What the default schedule decides: they do where a call goes through more memory than the last cache holds, and
/// lines are written whole.
bool streams_by_default(const StageContext& context, const codegen::NestSchedule& stage);

}  // namespace tile_tune::search
