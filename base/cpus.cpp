#include "base/cpus.h"

#include <sched.h>

namespace tile_tune::base {

int usable_cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace tile_tune::base
