// Whether a file's tables and indexes are those that this tool makes: what they are defined as is run by SQLite
// whenever they are read, written or checked, and a file may come from anywhere.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

/// Nothing but what the migrations up to `version` make, each defined as they define it (comments, blanks and quotes
/// around names apart). Else foreign-schema, with the first that differs. SQLite's own tables of statistics may be
/// there.
Result<void> check_schema(sqlite3* db, int version);

/// Of a damaged file, whose definitions need not be whole: that reading its tables reads rows and computes nothing. No
/// views, virtual tables or generated columns stand in for them.
Result<void> check_plain_tables(sqlite3* db);

/// SQL as its tokens, one blank between them; exposed for tests.
std::string sql_tokens(std::string_view sql);

}  // namespace tile_tune::db
