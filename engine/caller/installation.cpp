#include "engine/caller/installation.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tile_tune::engine {

namespace fs = std::filesystem;

namespace {

fs::path installed_tool() {
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(&installed_tool), &library) == 0) return {};
  std::error_code ignored;
  return fs::weakly_canonical(library.dli_fname, ignored).parent_path().parent_path() / "bin" / "tile-tune";
}

}  // namespace

Result<std::string> tool(const std::string& given) {
  const fs::path executable = given.empty() ? installed_tool() : fs::path(given);
  std::error_code ignored;
  if (!fs::is_regular_file(executable, ignored))
    return failure("no-executable", fmt::format("there is no tile-tune at {}", executable.string()),
                   "name it in Options::executable");
  return executable.string();
}

}  // namespace tile_tune::engine
