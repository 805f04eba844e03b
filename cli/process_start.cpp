#include "cli/process_start.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "search/timing/deadline.h"

namespace tile_tune::cli {

double process_start() {
  const double now = search::now_seconds();
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = text.rfind(") ");  // the name before it may hold anything
  if (name_end == std::string::npos) return now;
  // Behind the name: 19 fields, then when the process began, in ticks since the machine did.
  std::istringstream fields(text.substr(name_end + 2));
  std::string skipped;
  for (int field = 0; field < 19; ++field) fields >> skipped;
  double ticks = 0;
  timespec since_boot{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return now;
  const double age = static_cast<double>(since_boot.tv_sec) + static_cast<double>(since_boot.tv_nsec) * 1e-9 -
                     ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return age > 0 ? now - age : now;
}

}  // namespace tile_tune::cli
