// A schedule in words: as loops, as Halide C++, or as the machine code of its hot loop.
#pragma once

#include <string>

#include "codegen/target/target.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

/// `what`: "loops", "schedule" or "asm".
Result<std::string> schedule_text(const std::string& what, const Workload& workload, const ScheduleChoice& choice,
                                  const codegen::Target& target);

}  // namespace tile_tune::engine
