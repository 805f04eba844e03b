#include "codegen/emit/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "codegen/emit/capture.h"

extern char** environ;

namespace tile_tune::codegen {
namespace {

constexpr const char* kDiskFull = "No space left on device";  // ENOSPC in the C locale, which tools run in

/// The environment with messages in English, so that diagnostics do not depend on the user's locale.
std::vector<char*> tool_environment() {
  static char locale[] = "LC_ALL=C";
  std::vector<char*> list;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, "LC_ALL=", 7) != 0) list.push_back(*entry);
  list.push_back(locale);
  list.push_back(nullptr);
  return list;
}

int spawn(const std::vector<std::string>& command, const std::filesystem::path& directory, const Capture& out,
          const Capture& err, pid_t* child) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  const int error =
      posix_spawnp(child, command[0].c_str(), &actions, nullptr, arguments.data(), tool_environment().data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  const Capture out, err;
  if (out.descriptor() < 0 || err.descriptor() < 0)
    return failure("tool-failed", fmt::format("cannot run '{}': {}", command[0], strerror(errno)));
  pid_t child;
  if (const int error = spawn(command, directory, out, err, &child); error != 0)
    return failure("tool-missing", fmt::format("cannot run '{}': {}", command[0], strerror(error)),
                   "packages are made with cc, ld, nm, objcopy and ar: install gcc and binutils");
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return failure("tool-failed", fmt::format("lost track of '{}': {}", command[0], strerror(errno)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out.text();
  const std::string said = trimmed(err.text());
  if (said.find(kDiskFull) != std::string::npos)
    return failure("disk-full", fmt::format("cannot write the package: {}", kDiskFull), "free some space there");
  const std::string how = WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                                              : fmt::format("failed with exit status {}", WEXITSTATUS(status));
  return failure("tool-failed", fmt::format("'{}' {} while making the package", command[0], how), said);
}

}  // namespace tile_tune::codegen
