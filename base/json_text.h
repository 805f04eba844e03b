#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tile_tune::base {

/// JSON text for files, processes and people: bytes that are not UTF-8 (comments in a program may hold them) are
/// replaced instead of throwing. One line if `indent` is negative.
std::string json_text(const nlohmann::json& json, int indent = -1);

}  // namespace tile_tune::base
