#include "db/session_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
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
  const int file = ::open(path.c_str(), O_CLOEXEC | (create ? O_RDWR | O_CREAT : O_RDONLY), 0666);
  if (file < 0 && create) {
    return failure("cannot-open-database", fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  return SessionLocks(file);
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
