#include "search/timing/deadline.h"

#include <chrono>

namespace tile_tune::search {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tile_tune::search
