// What options with free text have in common.
#pragma once

namespace CLI {
class Option;
}

namespace tile_tune::cli {

/// Refuses an empty value: `--db ''` is a variable that was not set, never a file.
void refuse_empty(CLI::Option* option);

}  // namespace tile_tune::cli
