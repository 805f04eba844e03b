#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tile_tune::base {

/// `text` cut to `columns` characters, without splitting one.
std::string cut_to_width(const std::string& text, size_t columns);

/// `text` in lines of at most `columns` characters, broken at blanks that do not stand between a number and its
/// unit; a word that is longer has a line of its own.
std::vector<std::string> broken_into_lines(const std::string& text, size_t columns);

}  // namespace tile_tune::base
