#include "search/measure/linker.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tile_tune::search {

Result<void> link_shared(const std::filesystem::path& input, const std::filesystem::path& library) {
  const char* arguments[] = {
      "ld",  "-shared", "-Bsymbolic", "-o", library.c_str(), "--whole-archive", input.c_str(), "--no-whole-archive",
      "-lc", "-lm",     nullptr};
  pid_t linker = 0;
  const int error = posix_spawnp(&linker, "ld", nullptr, nullptr, const_cast<char**>(arguments), environ);
  if (error != 0)
    return failure("linker-missing", fmt::format("cannot run the linker ld: {}", std::strerror(error)),
                   "install Debian's package binutils");
  int status = 0;
  while (waitpid(linker, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure("linker-failed", fmt::format("the linker could not make {}", library.filename().string()));
  return {};
}

}  // namespace tile_tune::search
