// A schedule of one program, said of another of the same form (ir/form.h): other element types, other batches.
#pragma once

#include <optional>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::search {

/// `schedule` is valid for `from`; both programs are canonical and bound. Tiles along vectors keep their number of
/// vectors; batch loops that `from` lacks run outermost, one by one, and in parallel; those that `to` lacks go, with
/// what was decided for them. The result still wants repair(). Nothing where the nests differ in more.
std::optional<codegen::Schedule> restate(const ir::Program& from, const codegen::Schedule& schedule,
                                         const ir::Program& to);

}  // namespace tile_tune::search
