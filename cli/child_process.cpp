#include "cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace tile_tune::cli {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

auto cannot_start(int error) {
  return failure("cannot-start", fmt::format("cannot start a process of our own: {}", std::strerror(error)));
}

bool write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

constexpr int kLookMs = 50;  // between two looks at whether to stop

/// Until the other end is closed, or `stop` (may be null) is set.
std::string read_all(int fd, const std::atomic<bool>* stop) {
  std::string text;
  char block[1 << 14];
  while (true) {
    pollfd ready{fd, POLLIN, 0};
    if (stop != nullptr && poll(&ready, 1, kLookMs) == 0) {
      if (*stop) return text;
      continue;
    }
    const ssize_t count = read(fd, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block, static_cast<size_t>(count));
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// 0, or an errno.
int spawn(const std::string& path, const std::vector<std::string>& arguments, int in, int out, int err, pid_t& child) {
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  // A process group of its own keeps the terminal's Ctrl-C away from it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawn(&child, path.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Result<std::string> own_executable() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return cannot_start(error.value());
  return path.string();
}

Result<ChildOutput> run_self(const std::vector<std::string>& arguments, const std::string& input,
                             const std::atomic<bool>* stop) {
  TILE_TUNE_TRY(path, own_executable());
  // In memory rather than through a pipe: nobody has to read and write at once.
  const Descriptor in(memfd_create("tile-tune-request", MFD_CLOEXEC));
  if (in.get() < 0 || !write_all(in.get(), input)) return cannot_start(errno);
  const Descriptor err(memfd_create("tile-tune-complaints", MFD_CLOEXEC));
  if (err.get() < 0) return cannot_start(errno);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return cannot_start(errno);
  const Descriptor from_child(ends[0]);
  Descriptor to_us(ends[1]);
  pid_t child = 0;
  if (const int error = spawn(path, arguments, in.get(), to_us.get(), err.get(), child)) return cannot_start(error);
  to_us.close();
  ChildOutput output;
  output.process = child;
  output.text = read_all(from_child.get(), stop);
  if (stop != nullptr && *stop) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  lseek(err.get(), 0, SEEK_SET);
  output.complaint = last_line(read_all(err.get(), nullptr));
  if (WIFSIGNALED(status)) output.signal = WTERMSIG(status);
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace tile_tune::cli
