// From argv to an exit code: parses, runs the verb, reports what went wrong.
#pragma once

namespace tile_tune::cli {

int run_command_line(int argc, char** argv);

}  // namespace tile_tune::cli
