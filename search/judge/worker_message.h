// The form of what our processes say to each other: a JSON object a line, with the protocol's version and what it is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tile_tune::search {

inline constexpr int kProtocolVersion = 1;

/// Of this version, with nothing in it yet.
nlohmann::json message_of(const char* kind);
/// Without a newline.
std::string line_of(const nlohmann::json& message);
/// Throws std::exception for a line that is no JSON, or of another version.
nlohmann::json parse_message(const std::string& line);

}  // namespace tile_tune::search
