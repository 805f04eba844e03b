#include "cli/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "cli/units.h"
#include "codegen/schedule/limits.h"

namespace tile_tune::cli {

namespace {

double available_bytes() {
  const double physical = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return physical;
  return std::min(physical, static_cast<double>(limit.rlim_cur));
}

}  // namespace

Result<void> check_memory(const ir::Program& program) {
  double total = 0, largest = 0;
  std::string name;
  for (const auto& tensor : program.tensors) {
    const double bytes = static_cast<double>(ir::element_count(tensor)) * static_cast<double>(dtype_size(tensor.type));
    total += bytes;
    if (bytes <= largest) continue;
    largest = bytes;
    name = tensor.name;
  }
  const double available = available_bytes();
  if (total <= available) return {};
  const std::string all = largest < total ? fmt::format(", all tensors together {}", format_bytes(total)) : "";
  return failure("out-of-memory",
                 fmt::format("{} takes {}{}: there are {} of memory here", name, format_bytes(largest), all,
                             format_bytes(available)),
                 "choose smaller sizes");
}

Result<void> check_extents(const ir::Program& program) {
  return codegen::computes_nothing(program) ? Result<void>() : codegen::check_countable(program);
}

Result<void> check_size(const ir::Program& program) {
  TILE_TUNE_CHECK(codegen::check_countable(program));
  return check_memory(program);
}

}  // namespace tile_tune::cli
