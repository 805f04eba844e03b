#include "engine/records/open_database.h"

#include <utility>

namespace tile_tune::engine {

Result<OpenDatabase> open_checked(const std::filesystem::path& path) {
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
  TILE_TUNE_CHECK(database.check_pages(db::Database::Depth::Indexes));
  return OpenDatabase{path, std::move(database)};
}

Result<std::vector<OpenDatabase>> open_checked(const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  std::vector<OpenDatabase> databases;
  for (const auto& path : paths) {
    TILE_TUNE_TRY(database, open_checked(path));
    databases.push_back(std::move(database));
  }
  return databases;
}

std::vector<db::Database> readable_databases(const Session& session) {
  std::vector<db::Database> databases;
  const auto paths = session.databases();
  if (!paths) return databases;
  for (const auto& path : *paths)
    if (auto database = db::Database::open(path, db::Mode::ReadOnly)) databases.push_back(std::move(*database));
  return databases;
}

}  // namespace tile_tune::engine
