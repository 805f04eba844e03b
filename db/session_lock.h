// Which sessions are at work: one byte-range lock per session in a file beside the database.
//
// The kernel drops a process's locks when it ends, however it ends, so a session that says "running" and holds no
// lock is one whose tuner was killed. That needs no clock, no process numbers, and holds across containers and
// reboots. The database file itself cannot carry the locks: closing it would drop SQLite's own.
#pragma once

#include <filesystem>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

class SessionLocks {
 public:
  /// The lock file of a database; `create` makes it, otherwise one that is missing holds no locks.
  /// `database` is where the file really lies: all who open it must meet at one lock file.
  static Result<SessionLocks> open(const std::filesystem::path& database, bool create);
  SessionLocks(SessionLocks&& other) noexcept;
  SessionLocks& operator=(SessionLocks&& other) noexcept;
  ~SessionLocks();

  /// False: someone else holds it.
  bool acquire(const std::string& session);
  void release(const std::string& session);
  /// True if another SessionLocks, here or in another process, holds it.
  bool held_elsewhere(const std::string& session) const;

 private:
  explicit SessionLocks(int file) : file_(file) {}
  int file_;  // -1: no lock file
};

}  // namespace tile_tune::db
