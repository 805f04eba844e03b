#include "codegen/emit/subprocess.h"

#include <fmt/format.h>
#include <string.h>

#include "base/process/spawn.h"

namespace tile_tune::codegen {
namespace {

constexpr const char* kDiskFull = "No space left on device";  // ENOSPC in the C locale, which tools run in

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  const auto tool = base::run({.words = command, .directory = directory, .in_english = true});
  if (!tool)
    return failure("tool-missing", fmt::format("cannot run '{}': {}", command[0], strerror(tool.error())),
                   "packages are made with cc, ld, nm, objcopy and ar: install gcc and binutils");
  if (tool->ending.ok()) return tool->out;
  const std::string said = trimmed(tool->err);
  if (said.find(kDiskFull) != std::string::npos)
    return failure("disk-full", fmt::format("cannot write the package: {}", kDiskFull), "free some space there");
  if (tool->ending.was_stopped)
    return failure("tool-failed", fmt::format("somebody had stopped '{}' while it made the package", command[0]));
  const std::string how = tool->ending.signal ? fmt::format("was killed by signal {}", tool->ending.signal)
                                              : fmt::format("failed with exit status {}", tool->ending.exit_code);
  return failure("tool-failed", fmt::format("'{}' {} while making the package", command[0], how), said);
}

}  // namespace tile_tune::codegen
