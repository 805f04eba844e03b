// Halide's own automatic schedulers, which ours are compared with.
#pragma once

#include <optional>
#include <string_view>

namespace tile_tune::codegen {

enum class AutoScheduler { Mullapudi2016, Adams2019 };
inline constexpr AutoScheduler kAutoSchedulers[] = {AutoScheduler::Mullapudi2016, AutoScheduler::Adams2019};

/// As Halide names them: "Mullapudi2016", "Adams2019".
const char* name_of(AutoScheduler scheduler);
std::optional<AutoScheduler> parse_auto_scheduler(std::string_view name);

}  // namespace tile_tune::codegen
