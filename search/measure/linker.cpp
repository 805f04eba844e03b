#include "search/measure/linker.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "search/measure/channel.h"

namespace tile_tune::search {
namespace {

// Its last line says why it gave up: "ld: final link failed: No space left on device".
std::string last_line(int file) {
  char bytes[4096];
  const off_t size = lseek(file, 0, SEEK_END);
  const ssize_t got = pread(file, bytes, sizeof bytes, std::max<off_t>(0, size - static_cast<off_t>(sizeof bytes)));
  std::string_view text(bytes, got > 0 ? static_cast<size_t>(got) : 0);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

// Messages are looked through for the system's words, which must not be translated.
std::vector<char*> english_environment() {
  static char english[] = "LC_ALL=C";
  std::vector<char*> variables{english};
  for (char** variable = environ; *variable; ++variable)
    if (!std::string_view(*variable).starts_with("LC_ALL=")) variables.push_back(*variable);
  variables.push_back(nullptr);
  return variables;
}

/// `arguments` begin with the program and end with a null pointer.
Result<void> make(const std::filesystem::path& library, std::vector<const char*> arguments, const char* what,
                  const char* note) {
  pid_t child = 0;
  const Fd said(memfd_create("tool-output", MFD_CLOEXEC));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (said.get() >= 0) posix_spawn_file_actions_adddup2(&files, said.get(), STDERR_FILENO);
  const int error = posix_spawnp(&child, arguments.front(), &files, nullptr, const_cast<char**>(arguments.data()),
                                 english_environment().data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return failure(fmt::format("{}-missing", what),
                   fmt::format("cannot run the {} {}: {}", what, arguments.front(), std::strerror(error)), note);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure(fmt::format("{}-failed", what), fmt::format("the {} could not make {}: {}", what,
                                                               library.filename().string(), last_line(said.get())));
  return {};
}

}  // namespace

Result<void> compile_shared(const std::filesystem::path& source, const std::filesystem::path& library) {
  return make(library,
              {"cc", "-std=c11", "-O1", "-fPIC", "-pipe", "-shared", "-o", library.c_str(), source.c_str(), nullptr},
              "compiler", "packages are made with cc, ld, nm, objcopy and ar: install gcc and binutils");
}

}  // namespace tile_tune::search
