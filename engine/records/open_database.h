#pragma once

#include <filesystem>
#include <vector>

#include "db/database.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

/// A database for reading: it exists, and its pages hang together and its indexes, by which
/// records are found, agree with its tables.
struct OpenDatabase {
  std::filesystem::path path;
  db::Database database;
};
Result<OpenDatabase> open_checked(const std::filesystem::path& path);
/// All of them, the one that is written first.
Result<std::vector<OpenDatabase>> open_checked(const Session& session);

/// Those that can be read, for what does without them: what is wrong with the others is told by who needs them.
std::vector<db::Database> readable_databases(const Session& session);

}  // namespace tile_tune::engine
