// Which of some names a mistyped one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile_tune::base {

/// The name the fewest edits away (case aside, and fewer than half of its letters); empty if none is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace tile_tune::base
