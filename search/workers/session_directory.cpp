#include "search/workers/session_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/process/fd.h"

namespace tile_tune::search {
namespace {

constexpr const char* kPrefix = "tile-tune-session-";
// In a session's directory, locked by the process it belongs to.
constexpr const char* kOwnerFile = "owner.lock";
constexpr int kDirectoryAttempts =
    3;  // to make a directory that another process's cleaning does not take for an orphan

// nullopt if the directory is gone: whoever cleans up may have locked the file between the two steps. Where files
// cannot be locked, nobody can clean up either.
std::optional<base::Fd> own(const std::filesystem::path& directory) {
  base::Fd file(open((directory / kOwnerFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return errno == ENOENT ? std::nullopt : std::optional(base::Fd());
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
    const base::Fd file(open((path / kOwnerFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace

Result<SessionDirectory> SessionDirectory::create() {
  std::error_code error;
  const auto temporary = std::filesystem::temp_directory_path(error);
  if (!error) remove_orphans(temporary);
  for (int attempt = 0; !error && attempt < kDirectoryAttempts; ++attempt) {
    auto directory = base::TemporaryDirectory::create(temporary, kPrefix);
    if (!directory) {
      error = {directory.error(), std::generic_category()};
      break;
    }
    if (auto lock = own(directory->path())) return SessionDirectory(std::move(*lock), std::move(*directory));
  }
  return failure("no-temporary-directory",
                 fmt::format("cannot make a temporary directory: {}", error ? error.message() : std::strerror(errno)),
                 "TMPDIR names the place for temporary files");
}

void remove_abandoned_session(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (directory.filename().string().rfind(kPrefix, 0) == 0) std::filesystem::remove_all(directory, ignored);
}

}  // namespace tile_tune::search
