// Halide's own automatic schedulers, which ours are compared with: those for CPUs, and the one for GPUs.
#pragma once

#include <optional>
#include <string_view>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

enum class AutoScheduler { Mullapudi2016, Adams2019, Anderson2021 };
inline constexpr AutoScheduler kAutoSchedulers[] = {AutoScheduler::Mullapudi2016, AutoScheduler::Adams2019,
                                                    AutoScheduler::Anderson2021};

/// As Halide names them: "Mullapudi2016", "Adams2019", "Anderson2021".
const char* name_of(AutoScheduler scheduler);
Device device_of(AutoScheduler scheduler);
std::optional<AutoScheduler> parse_auto_scheduler(std::string_view name);

}  // namespace tile_tune::codegen
