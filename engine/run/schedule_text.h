// A schedule in words: as loops, as Halide C++, as the machine code of its hot loop, or as what a GPU's driver
// compiles.
#pragma once

#include <string>

#include "codegen/target/target.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

/// `what`: "loops", "schedule", "asm" of CPUs, "ptx" of GPUs.
Result<std::string> schedule_text(const std::string& what, const Workload& workload, const ScheduleChoice& choice,
                                  const codegen::Target& target);

}  // namespace tile_tune::engine
