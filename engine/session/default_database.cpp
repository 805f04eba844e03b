#include "engine/session/default_database.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tile_tune::engine {

namespace {

/// A variable that is set to nothing counts as not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::filesystem::path> data_folder() {
  // The XDG base directory specification says that relative paths are to be ignored.
  if (const std::filesystem::path given = variable("XDG_DATA_HOME"); given.is_absolute()) return given;
  std::string home = variable("HOME");
  if (home.empty()) {
    if (const passwd* user = getpwuid(getuid())) home = user->pw_dir;
  }
  if (home.empty())
    return failure("no-home", "there is no home folder to keep the tuning database in", "name a file with --db FILE");
  return std::filesystem::path(home) / ".local" / "share";
}

}  // namespace

Result<std::filesystem::path> default_database() {
  if (const std::string given = variable("TILE_TUNE_DB"); !given.empty()) return given;
  TILE_TUNE_TRY(folder, data_folder());
  return folder / "tile-tune" / "tuning.db";
}

std::optional<std::filesystem::path> curated_database(const std::filesystem::path& executable) {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("TILE_TUNE_CURATED")) {
    if (*given == 0) return std::nullopt;
    return given;
  }
  std::error_code error;
  const fs::path tool = fs::canonical(executable, error);
  const fs::path file = tool.parent_path().parent_path() / "share" / "tile-tune" / "curated.db";
  if (error || !fs::is_regular_file(file, error)) return std::nullopt;
  return file;
}

}  // namespace tile_tune::engine
