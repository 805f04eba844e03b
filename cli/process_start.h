// When this process began.
#pragma once

namespace tile_tune::cli {

/// By search::now_seconds(), to a hundredth of a second: what loading the program took counts.
double process_start();

}  // namespace tile_tune::cli
