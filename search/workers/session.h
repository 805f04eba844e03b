// A tuning session's directory of built libraries.
#pragma once

#include <filesystem>
#include <string>

#include "frontend/diagnostic/diagnostic.h"
#include "search/workers/channel.h"

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

/// Removes what a killed tuner left behind; only a directory that looks like a session's.
void remove_abandoned_session(const std::filesystem::path& directory);

}  // namespace tile_tune::search
