// Bytes that could be made again, kept in files of the user's own from one process to the next.
//
// Every file begins with the SHA-256 of its name and what it holds. What is not as it was written, or lies under
// another name, or belongs to somebody else, is not there; a folder that cannot be written, or that others may write,
// keeps nothing. Processes may share a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::base {

/// $XDG_CACHE_HOME/tile-tune, else ~/.cache/tile-tune; empty where there is neither.
std::filesystem::path user_cache();

class FileCache {
 public:
  /// An empty folder keeps nothing. `limit`: bytes of all files together, of which those that were not used for longest
  /// go first; 0: no limit.
  explicit FileCache(std::filesystem::path folder, uint64_t limit = 0) : folder_(std::move(folder)), limit_(limit) {}

  /// What was kept under a name, which is that of a file.
  std::optional<std::string> find(const std::string& name) const;
  /// Whoever comes at the same time finds all of it or nothing.
  void keep(const std::string& name, const std::string& bytes) const;
  /// Writes what was kept under the name to `file`, or has `make` write it and keeps that.
  Result<void> provide(const std::string& name, const std::filesystem::path& file,
                       const std::function<Result<void>()>& make) const;

 private:
  void make_room() const;

  std::filesystem::path folder_;
  uint64_t limit_;
};

}  // namespace tile_tune::base
