// -s NAME=N, --layout, --constant, --objective, --dtype and --shape of a verb.
#pragma once

#include "engine/programs/bindings.h"

namespace CLI {
class App;
}

namespace tile_tune::cli {

void add_binding_options(CLI::App& verb, engine::BindingOptions& options);

}  // namespace tile_tune::cli
