// Where each statement is computed: in a nest of its own, inlined, as an epilogue, or inside the loops of another.
#pragma once

#include "search/space/repair.h"
#include "search/space/rng.h"

namespace tile_tune::search {

/// Makes a schedule valid and canonical as a whole: first what is inlined, then epilogues, then the nests, the last
/// ones first since those inside them follow their tiles. A place that is impossible becomes a nest of its own. Its
/// notes say what was asked for and taken back.
Drawn repair(const std::vector<StageContext>& stages, codegen::Schedule schedule);

/// The loops of statement s as its nest runs them under the schedule.
StageContext context_of(const std::vector<StageContext>& stages, const codegen::Schedule& schedule, int s);

/// Statement s put elsewhere: one of its possible places drawn, its own nest among them. Not yet repaired.
codegen::Schedule draw_placement(const std::vector<StageContext>& stages, codegen::Schedule schedule, int s, Rng& rng);

}  // namespace tile_tune::search
