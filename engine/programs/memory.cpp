#include "engine/programs/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/units.h"
#include "codegen/schedule/countable.h"

namespace tile_tune::engine {

namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Of files of lines "KEY VALUE" (meminfo: "KEY: VALUE kB").
double value_of(const fs::path& file, std::string_view wanted, double otherwise) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream words(line);
    std::string key;
    double value = 0;
    if (words >> key >> value && key == wanted) return value;
  }
  return otherwise;
}

/// A file of one number; "max" and whatever else is none are no limit.
double number_in(const fs::path& file, double otherwise) {
  std::ifstream stream(file);
  double value = 0;
  return stream >> value ? value : otherwise;
}

/// The files of a control group in one of the two versions of their interface.
struct GroupFiles {
  const char *mount, *limit, *usage, *cached[2];
};
constexpr GroupFiles kFirstVersion{"sys/fs/cgroup/memory",
                                   "memory.limit_in_bytes",
                                   "memory.usage_in_bytes",
                                   {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles kUnified{"sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

/// What a control group may still take. Its cache of files gives way.
double free_in(const fs::path& group, const GroupFiles& files) {
  const double most = number_in(group / files.limit, kUnlimited);
  if (most == kUnlimited) return kUnlimited;
  double taken = number_in(group / files.usage, 0);
  for (const char* key : files.cached) taken -= value_of(group / "memory.stat", key, 0);
  return std::max(0.0, most - std::max(0.0, taken));
}

/// In a container the files of its own group are at the mount, whatever path the group has outside.
double free_in_groups(const fs::path& root) {
  double least = kUnlimited;
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const GroupFiles& files = unified ? kUnified : kFirstVersion;
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      least = std::min(least, free_in(root / files.mount / group, files));
      if (group.empty()) break;
    }
  }
  return least;
}

struct Bytes {
  double inputs = 0, outputs = 0, temporaries = 0;
  double reference = 0;  // of what it computes: value, integer, bound and more, 33 bytes of an element, and the result
  double total() const { return inputs + outputs + temporaries; }
};

Bytes bytes_of(const ir::Program& program) {
  constexpr double kReferenceBytes = 48;  // measured: 45 of an f32
  Bytes bytes;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const auto& tensor = program.tensors[t];
    const auto elements = static_cast<double>(ir::reach(tensor).count);
    const double size = elements * static_cast<double>(dtype_size(tensor.type));
    const bool is_output = std::count(program.outputs.begin(), program.outputs.end(), static_cast<int>(t)) > 0;
    const bool is_given = tensor.role == ir::Role::Input || tensor.role == ir::Role::InOut;
    if (is_given) bytes.inputs += size;
    if (is_output) bytes.outputs += size;
    if (!is_given && !is_output) bytes.temporaries += size;
    if (!is_given || is_output) bytes.reference += kReferenceBytes * elements;
  }
  return bytes;
}

std::string_view purpose(Use use) {
  switch (use) {
    case Use::Reference:
      return "the reference takes";
    case Use::Run:
      return "running takes";
    case Use::Build:
      return "checking the kernel takes";
    default:
      return "measuring takes";
  }
}

const ir::Tensor& largest_of(const ir::Program& program) {
  const auto bytes = [](const ir::Tensor& tensor) {
    return static_cast<double>(ir::element_count(tensor)) * static_cast<double>(dtype_size(tensor.type));
  };
  return *std::max_element(program.tensors.begin(), program.tensors.end(),
                           [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
}

}  // namespace

// Measured as the most that all processes together had at one time, with 268 MB read and none or as many written:
// run 3.0 and 5.0 times the 268 MB (the arrays of the caller among them), build 5.0, tune 4.1 and 7.1.
double bytes_needed(const ir::Program& program, Use use) {
  const Bytes bytes = bytes_of(program);
  switch (use) {
    case Use::Reference:
      return bytes.reference;
    case Use::Run:
      return 2 * bytes.inputs + 2 * bytes.outputs + bytes.temporaries;
    case Use::Build:
      return 3 * bytes.inputs + 2 * bytes.outputs + bytes.temporaries;
    default:
      return 4 * bytes.inputs + 3 * bytes.outputs + bytes.temporaries;
  }
}

double available_bytes(const fs::path& root) {
  double available = 1024 * value_of(root / "proc/meminfo", "MemAvailable:", kUnlimited);
  available = std::min(available, free_in_groups(root));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    available = std::min(available, static_cast<double>(limit.rlim_cur));
  return available;
}

Result<void> check_memory(const ir::Program& program, Use use, double available) {
  const double needed = bytes_needed(program, use);
  if (program.tensors.empty() || needed <= available) return {};
  const auto& largest = largest_of(program);
  const double bytes = static_cast<double>(ir::element_count(largest)) * static_cast<double>(dtype_size(largest.type));
  const double total = bytes_of(program).total();
  const std::string all = bytes < total ? fmt::format(", all tensors together {}", base::format_bytes(total)) : "";
  return failure("out-of-memory",
                 fmt::format("{} takes {}{}; {} {} with all copies, and {} of memory are free here", largest.name,
                             base::format_bytes(bytes), all, purpose(use), base::format_bytes(needed),
                             base::format_bytes(available)),
                 "choose smaller sizes");
}

Result<void> check_extents(const ir::Program& program) {
  return codegen::computes_nothing(program) ? Result<void>() : codegen::check_countable(program);
}

Result<void> check_size(const ir::Program& program, Use use) {
  TILE_TUNE_CHECK(codegen::check_countable(program));
  return check_memory(program, use);
}

}  // namespace tile_tune::engine
