#include "search/measure/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace tile_tune::search {
namespace {

constexpr const char* kPrefix = "tile-tune-session-";
// In the one directory all users of a machine share.
constexpr const char* kLockFile = "/tmp/tile-tune.timing.lock";

// A tuner's turn is some seconds; whoever keeps the lock for longer must not stop everybody else's work.
constexpr std::chrono::seconds kLongestWait(10);

// Turns shorter than this are no news.
constexpr std::chrono::milliseconds kSilentWait(500);

// The file may belong to another user: reading is enough for flock, and all it takes is that it exists.
Fd open_lock(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW); file >= 0) return Fd(file);
    if (const int file = open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644); file >= 0)
      return Fd(file);
  }
  return Fd();
}

}  // namespace

Result<SessionDirectory> SessionDirectory::create() {
  std::error_code error;
  const auto temporary = std::filesystem::temp_directory_path(error);
  std::string pattern = (temporary / (std::string(kPrefix) + "XXXXXX")).string();
  if (error || !mkdtemp(pattern.data()))
    return failure("no-temporary-directory",
                   fmt::format("cannot make a temporary directory: {}", error ? error.message() : std::strerror(errno)),
                   "TMPDIR names the place for temporary files");
  return SessionDirectory(pattern);
}

SessionDirectory::~SessionDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void remove_abandoned_session(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (directory.filename().string().rfind(kPrefix, 0) == 0) std::filesystem::remove_all(directory, ignored);
}

std::optional<MachineLock> MachineLock::acquire(Mode mode, const std::atomic<bool>* stop, const OnWait& on_wait) {
  MachineLock lock;
  lock.file_ = open_lock(kLockFile);
  if (lock.file_.get() < 0) {
    lock.held_ = true;  // nobody else can hold it either
    return lock;
  }
  const int operation = (mode == Mode::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  const auto start = std::chrono::steady_clock::now(), deadline = start + kLongestWait;
  bool told = !on_wait;
  while (flock(lock.file_.get(), operation) != 0) {
    if (std::chrono::steady_clock::now() >= deadline) return lock;
    if (stop && *stop) return std::nullopt;
    if (errno != EWOULDBLOCK && errno != EINTR) return lock;
    if (!told && std::chrono::steady_clock::now() > start + kSilentWait) {
      on_wait(fmt::format("waiting for another tile-tune that {} on this machine (lock {})",
                          mode == Mode::Shared ? "times kernels" : "builds or times kernels", kLockFile));
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  lock.held_ = true;
  return lock;
}

}  // namespace tile_tune::search
