// The runtime of emitted libraries (codegen/emit/runtime), for C++.
#pragma once

#include <atomic>

using std::atomic_int;

extern "C" {
#include "tile_tune_rt.h"
}
