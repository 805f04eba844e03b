// Draws and changes of one stage's own nest, as pure functions; their results still want repair(). Whether a stage has
// one is placement.h's business.
#pragma once

#include "search/space/drawn.h"
#include "search/space/repair.h"
#include "search/space/rng.h"

namespace tile_tune::search {

codegen::NestSchedule default_stage(const StageContext& context);
/// The default, then what the model takes for nearly as good: other widths of the register tile, cheapest first.
std::vector<codegen::NestSchedule> default_stages(const StageContext& context);
codegen::NestSchedule sample_stage(const StageContext& context, Rng& rng);

/// One decision drawn anew or moved by a step.
Changed mutate_stage(const StageContext& context, const codegen::NestSchedule& stage, Rng& rng);

/// Each group of decisions (codegen/schedule/decisions.h) from a or b; of tiles and loop orders each loop's.
codegen::StageSchedule cross_stages(const codegen::StageSchedule& a, const codegen::StageSchedule& b, Rng& rng);

}  // namespace tile_tune::search
