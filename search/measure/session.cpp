#include "search/measure/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

// In a session's directory, locked by the process it belongs to.
constexpr const char* kOwnerFile = "owner.lock";
constexpr int kAttempts = 3;  // to make a directory that another process's cleaning does not take for an orphan

// nullopt if the directory is gone: whoever cleans up may have locked the file between the two steps. Where files
// cannot be locked, nobody can clean up either.
std::optional<Fd> own(const std::filesystem::path& directory) {
  Fd file(open((directory / kOwnerFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return errno == ENOENT ? std::nullopt : std::optional(Fd());
  struct stat status {};
  flock(file.get(), LOCK_EX);
  if (fstat(file.get(), &status) == 0 && status.st_nlink == 0) return std::nullopt;
  return file;
}

// Directories whose lock nobody holds. One without a lock's file is left alone: it may be just being made, or be no
// session's at all.
void remove_orphans(const std::filesystem::path& temporary) {
  std::error_code error, ignored;
  std::filesystem::directory_iterator entry(temporary, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const auto& path = entry->path();
    if (path.filename().string().rfind(kPrefix, 0) != 0) continue;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) continue;
    const Fd file(open((path / kOwnerFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::filesystem::remove_all(path, ignored);
  }
}

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
  const std::string pattern = (temporary / (std::string(kPrefix) + "XXXXXX")).string();
  if (!error) remove_orphans(temporary);
  for (int attempt = 0; !error && attempt < kAttempts; ++attempt) {
    std::string path = pattern;
    if (!mkdtemp(path.data())) break;
    if (auto lock = own(path)) return SessionDirectory(path, std::move(*lock));
  }
  return failure("no-temporary-directory",
                 fmt::format("cannot make a temporary directory: {}", error ? error.message() : std::strerror(errno)),
                 "TMPDIR names the place for temporary files");
}

SessionDirectory::~SessionDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bool is_disk_full(const std::filesystem::path& session_directory) {
  constexpr uintmax_t kTooLittle = 1 << 16;  // a kernel's object and library take more
  std::error_code error;
  const auto space = std::filesystem::space(session_directory, error);
  return !error && space.available < kTooLittle;
}

std::string no_space_text(const std::filesystem::path& session_directory) {
  return fmt::format("no space is left for temporary files in {}", session_directory.parent_path().string());
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
