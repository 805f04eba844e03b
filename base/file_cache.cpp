#include "base/file_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"
#include "base/whole_file.h"

namespace tile_tune::base {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigest = 64;  // characters of a SHA-256

/// Ours, and writable by nobody else.
bool is_own(const fs::path& path, mode_t kind) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == kind && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

fs::path user_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  // The XDG base directory specification says that relative paths are to be ignored.
  if (const auto given = variable("XDG_CACHE_HOME"); given.is_absolute()) return given / "tile-tune";
  if (const auto home = variable("HOME"); home.is_absolute()) return home / ".cache" / "tile-tune";
  return {};
}

std::optional<std::string> FileCache::find(const std::string& name) const {
  const fs::path place = folder_ / name;
  if (folder_.empty() || !is_own(folder_, S_IFDIR) || !is_own(place, S_IFREG)) return std::nullopt;
  const auto all = read_bytes(place);
  if (!all || all->size() < kDigest) return std::nullopt;
  std::string bytes = all->substr(kDigest);
  if (sha256_hex(name + bytes) != std::string_view(*all).substr(0, kDigest)) return std::nullopt;
  std::error_code ignored;
  if (limit_ > 0) fs::last_write_time(place, fs::file_time_type::clock::now(), ignored);  // what was used last stays
  return bytes;
}

void FileCache::keep(const std::string& name, const std::string& bytes) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_.parent_path(), error);
  mkdir(folder_.c_str(), 0700);
  if (!is_own(folder_, S_IFDIR)) return;
  const bool is_kept = replace_file(folder_ / name, sha256_hex(name + bytes) + bytes, 0600).has_value();
  if (is_kept && limit_ > 0) make_room();
}

Result<void> FileCache::provide(const std::string& name, const fs::path& file,
                                const std::function<Result<void>()>& make) const {
  if (const auto bytes = find(name); bytes && write_text(file, *bytes)) return {};
  TILE_TUNE_CHECK(make());
  if (const auto made = read_bytes(file)) keep(name, *made);
  return {};
}

void FileCache::make_room() const {
  struct File {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const File file{entry.last_write_time(error), entry.file_size(error), entry.path()};
    if (error) continue;  // another process took it away
    bytes += file.bytes;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i + 1 < files.size() && bytes > limit_; ++i) {
    fs::remove(files[i].path, error);
    bytes -= files[i].bytes;
  }
}

}  // namespace tile_tune::base
