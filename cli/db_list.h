// tile-tune db list: which lines, in which order, how wide.
#pragma once

#include "cli/db_verbs.h"
#include "cli/verb.h"

namespace tile_tune::cli {

/// `app`: who has the common options, of which those that are given choose lines here.
void add_db_list(Verb& app, Verb& db, Command& command);

}  // namespace tile_tune::cli
