// Databases as another version of the tool would have made them.
#pragma once

#include <string>

#include "sandbox.h"

namespace tile_tune::test {

/// Copies every trial of the database `from` to a new one, `to`, as made by version 0.0.1.
void age(const Sandbox& box, const std::string& from, const std::string& to);

}  // namespace tile_tune::test
