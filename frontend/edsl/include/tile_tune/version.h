#pragma once

namespace tile_tune {

/// "MAJOR.MINOR.PATCH" of the library.
const char* version();

}  // namespace tile_tune
