#include "db/session_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tile_tune::db {
namespace {

/// The byte that stands for a session: 31 bits of its random id, an offset every file system can lock.
struct flock lock_of(const std::string& session, short type) {
  uint32_t bits = 0;
  std::from_chars(session.data(), session.data() + std::min<size_t>(session.size(), 8), bits, 16);
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(bits >> 1);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<SessionLocks> SessionLocks::open(const std::filesystem::path& database, bool create) {
  const std::string path = database.string() + "-sessions";
  // Whatever lies there in the file's place: a pipe would be waited for, a link may lead anywhere.
  const int flags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | (create ? O_RDWR | O_CREAT : O_RDONLY);
  SessionLocks locks(::open(path.c_str(), flags, 0666));
  struct stat status {};
  const bool is_file = locks.file_ >= 0 && ::fstat(locks.file_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file) return locks;
  if (!create) return SessionLocks(-1);
  const char* why = locks.file_ >= 0 ? "not a file" : std::strerror(errno);
  return failure("cannot-open-database", fmt::format("cannot open {}: {}", path, why));
}

SessionLocks::SessionLocks(SessionLocks&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
SessionLocks& SessionLocks::operator=(SessionLocks&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}
SessionLocks::~SessionLocks() {
  if (file_ >= 0) ::close(file_);
}

// Locks of the open file description (F_OFD_*), not of the process: with those, closing one Database would drop the
// locks of another in the same process.
bool SessionLocks::acquire(const std::string& session) {
  auto lock = lock_of(session, F_WRLCK);
  return ::fcntl(file_, F_OFD_SETLK, &lock) == 0;
}

void SessionLocks::release(const std::string& session) {
  auto lock = lock_of(session, F_UNLCK);
  ::fcntl(file_, F_OFD_SETLK, &lock);
}

bool SessionLocks::held_elsewhere(const std::string& session) const {
  auto lock = lock_of(session, F_WRLCK);
  return file_ >= 0 && ::fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace tile_tune::db
