// Where the words of a call go: to the caller's Options::on_message, or else to standard error.
#pragma once

#include <tile_tune/engine.h>

#include "engine/session/reporter.h"

namespace tile_tune::engine {

void tell(const Message& message, const Options& options);

/// For what the command line's functions say. It refers to `options`.
Reporter reporter_of(const Options& options);

}  // namespace tile_tune::engine
