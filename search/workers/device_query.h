// Which device a target names: asked of the driver in a process of its own, since none that forks may have started one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::search {

/// Makes `target`, described by "host-opencl" or "host-cuda" and so on, that of device `number`: its model, and what
/// of its features decides what is compiled. `command` is the program and arguments that end in
/// answer_device_query(). Errors: no-device of class Target.
Result<void> find_device(codegen::Target& target, int number, const std::vector<std::string>& command);

/// What is known of a device by its driver ("opencl", "cuda"), or {"error": a sentence}. Loads the driver.
nlohmann::json answer_device_query(const std::string& driver, int number);

}  // namespace tile_tune::search
