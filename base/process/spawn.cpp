#include "base/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/process/memory_file.h"

extern char** environ;

namespace tile_tune::base {

namespace {

/// posix_spawn's arguments, released whatever happens.
struct Actions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Actions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~Actions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

void set_streams(Actions& actions, const Streams& streams) {
  if (streams.in == kNothing) posix_spawn_file_actions_addopen(&actions.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (streams.in >= 0) posix_spawn_file_actions_adddup2(&actions.files, streams.in, STDIN_FILENO);
  if (streams.out >= 0) posix_spawn_file_actions_adddup2(&actions.files, streams.out, STDOUT_FILENO);
  if (streams.err >= 0) posix_spawn_file_actions_adddup2(&actions.files, streams.err, STDERR_FILENO);
}

void set_attributes(Actions& actions, const Command& command) {
  short flags = 0;
  if (command.own_group) {
    posix_spawnattr_setpgroup(&actions.attributes, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  if (command.default_signals) {
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&actions.attributes, &signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&actions.attributes, &signals);
    flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  }
  posix_spawnattr_setflags(&actions.attributes, flags);
}

/// Ours, with messages in English.
std::vector<char*> english_environment() {
  static char english[] = "LC_ALL=C";
  std::vector<char*> variables{english};
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("LC_ALL=")) variables.push_back(*variable);
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

tl::expected<pid_t, int> spawn(const Command& command, const Streams& streams) {
  std::vector<char*> arguments;
  for (const auto& word : command.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Actions actions;
  set_streams(actions, streams);
  set_attributes(actions, command);
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions.files, command.directory.c_str());
  const auto english = command.in_english ? english_environment() : std::vector<char*>();
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions.files, &actions.attributes, arguments.data(),
                                 english.empty() ? environ : english.data());
  if (error != 0) return tl::unexpected(error);
  return child;
}

tl::expected<Finished, int> run(const Command& command, const std::string& input, const StopAsked& stop) {
  const MemoryFile in, out, err;
  if (in.descriptor() < 0 || out.descriptor() < 0 || err.descriptor() < 0) return tl::unexpected(errno);
  if (!in.write(input) || !in.rewind()) return tl::unexpected(errno);
  const auto child = spawn(command, {in.descriptor(), out.descriptor(), err.descriptor()});
  if (!child) return tl::unexpected(child.error());
  const auto ending = wait_for(*child, stop);
  if (!ending) return tl::unexpected(errno);
  return Finished{*child, *ending, out.text(), err.text()};
}

}  // namespace tile_tune::base
