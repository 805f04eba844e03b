// The trials that a database has of a program, as a space on which searches are replayed (`simulate`).
#pragma once

#include "db/database.h"
#include "search/evolve/simulate.h"

namespace tile_tune::engine {

/// Class Failure: records that cannot be read as a program, a target and trials.
Result<search::Recording> recording_of(db::Database& database, const db::RecordedRow& row);

}  // namespace tile_tune::engine
