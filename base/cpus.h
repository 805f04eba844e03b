#pragma once

namespace tile_tune::base {

/// CPUs that this thread may use; std::thread::hardware_concurrency() is all that the machine has.
int usable_cpus();

}  // namespace tile_tune::base
