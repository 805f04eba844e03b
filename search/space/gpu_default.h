// The nest that a statement gets on a GPU without any search.
#pragma once

#include "search/space/repair.h"

namespace tile_tune::search {

/// Of some hundred shapes of blocks the one that the static model (search/predict/gpu_facts.h) takes for the fastest,
/// then what it takes for nearly as good, each of another register tile.
std::vector<codegen::NestSchedule> default_stages_on_gpu(const StageContext& context);

}  // namespace tile_tune::search
