// A tuning session's traces on the machine: its directory of built libraries, and the lock that keeps others quiet.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "frontend/diagnostic/diagnostic.h"
#include "search/measure/channel.h"

namespace tile_tune::search {

/// A directory of its own in the system's place for temporary files; removed with the value. Creating one removes those
/// of this user whose process ended without doing so.
class SessionDirectory {
 public:
  static Result<SessionDirectory> create();
  SessionDirectory(SessionDirectory&& other) noexcept : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
    other.path_.clear();
  }
  SessionDirectory& operator=(SessionDirectory&&) = delete;
  ~SessionDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  SessionDirectory(std::filesystem::path path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  Fd lock_;  // held while this process lives: says that the directory is in use
};

/// Whether too little is left there for even one kernel.
bool is_disk_full(const std::filesystem::path& session_directory);
/// "no space is left for temporary files in DIR", and what to do.
std::string no_space_text(const std::filesystem::path& session_directory);
inline constexpr const char* kNoSpaceNote = "make room there, or let TMPDIR name another folder";

/// Removes what a killed tuner left behind; only a directory that looks like a session's.
void remove_abandoned_session(const std::filesystem::path& directory);

using OnWait = std::function<void(const std::string& sentence)>;

/// One lock for all tile-tune processes of a machine: whoever times holds it alone, those who build or verify share
/// it, so that nothing of ours runs while anything is timed (rulings 25).
class MachineLock {
 public:
  enum class Mode { Shared, Exclusive };
  /// Waits, but not for ever: after 10 s it goes on without, and figures are to be marked. nullopt once `stop` (may be
  /// null) is set. A system where the lock's file cannot be opened times without. A wait longer than half a second is
  /// told to `on_wait` (may be empty), once, in a sentence that says what for.
  static std::optional<MachineLock> acquire(Mode mode, const std::atomic<bool>* stop, const OnWait& on_wait = {});

  bool held() const { return held_; }

 private:
  Fd file_;
  bool held_ = false;
};

}  // namespace tile_tune::search
