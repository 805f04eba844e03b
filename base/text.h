#pragma once

#include <cstddef>
#include <string>

namespace tile_tune::base {

/// `text` cut to `columns` characters, without splitting one.
std::string cut_to_width(const std::string& text, size_t columns);

}  // namespace tile_tune::base
