// What can still be read of a damaged file.
#pragma once

#include <filesystem>

#include "db/database.h"

namespace tile_tune::db {

struct Recovered {
  int saved = 0;
  std::vector<Refusal> refused;  // read, but damaged, or what they need is lost
  int unreadable = 0;            // rows with readable ones behind them
  bool cut_off = false;          // nobody knows how many rows there were behind the last that could be read
};

/// Takes every record that can be read and whose digest holds into `fresh`. Only the tables are read, row by row, and
/// the damaged file is not changed.
Result<Recovered> recover(const std::filesystem::path& damaged, Database& fresh);

}  // namespace tile_tune::db
