#pragma once

#include <string>
#include <string_view>

namespace tile_tune::base {

/// SHA-256 of any text, as 64 hex digits.
std::string sha256_hex(std::string_view text);

}  // namespace tile_tune::base
