// Where the best schedule of a row stands on this machine (`db show`).
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/open_database.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

/// Its rung (engine/records/schedule_choice.h), or why it is not taken; empty without a schedule or a target. A
/// schedule that any of the databases refutes is not taken.
Result<std::string> rung_here(std::vector<OpenDatabase>& stack, const db::ListRow& row, const Session& session);

}  // namespace tile_tune::engine
