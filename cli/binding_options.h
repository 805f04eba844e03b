// -s NAME=N, --layout, --constant, --objective, --dtype and --shape of a verb.
#pragma once

#include "cli/verb.h"
#include "engine/programs/bindings.h"

namespace tile_tune::cli {

void add_binding_options(Verb& verb, engine::BindingOptions& options);

}  // namespace tile_tune::cli
