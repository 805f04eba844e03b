#include "cli/option_checks.h"

#include <CLI/CLI.hpp>

namespace tile_tune::cli {

void refuse_empty(CLI::Option* option) {
  option->check([](const std::string& value) { return value.empty() ? "needs a value that is not empty" : ""; });
}

}  // namespace tile_tune::cli
