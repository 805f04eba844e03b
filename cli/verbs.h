// The verbs of the command line. Each add_* declares one with its options; parsing a command line that names it
// puts what is to be done into `command`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/verb.h"
#include "cli/command.h"

namespace tile_tune::cli {

void add_check(Verb& app, Command& command);
void add_explain(Verb& app, Command& command);
void add_run(Verb& app, Command& command);
void add_tune(Verb& app, Command& command);
void add_simulate(Verb& app, Command& command);
void add_bench(Verb& app, Command& command);
void add_build(Verb& app, Command& command);
void add_db(Verb& app, Command& command);
/// What the tool starts itself: candidates and packages are compiled in processes of their own. Not in --help.
void add_worker(Verb& app, Command& command);

/// What --version prints: the tool and everything it is made of. The text ends without a newline.
std::string version_text();
nlohmann::json version_json();

}  // namespace tile_tune::cli
