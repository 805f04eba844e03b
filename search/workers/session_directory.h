// A tuning session's directory of built libraries.
#pragma once

#include <filesystem>
#include <string>

#include "base/process/fd.h"
#include "base/temporary_directory.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::search {

/// A directory of its own in the system's place for temporary files; removed with the value. Creating one removes those
/// of this user whose process ended without doing so.
class SessionDirectory {
 public:
  static Result<SessionDirectory> create();
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  SessionDirectory(base::Fd lock, base::TemporaryDirectory directory)
      : lock_(std::move(lock)), directory_(std::move(directory)) {}
  base::Fd lock_;  // held while this process lives: says that the directory is in use
  base::TemporaryDirectory directory_;
};

/// Removes what a killed tuner left behind; only a directory that looks like a session's.
void remove_abandoned_session(const std::filesystem::path& directory);

}  // namespace tile_tune::search
