// The entries for many sizes that a database has, for who lists them.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"

namespace tile_tune::engine {

struct ListedEntry {
  db::DoneSession row;
  std::string sizes;  // "N=1..512", as on a command line
  size_t kernels = 0;
};

/// One for each program, range of sizes, target and tool: the latest.
Result<std::vector<ListedEntry>> listed_entries(db::Database& database);

}  // namespace tile_tune::engine
