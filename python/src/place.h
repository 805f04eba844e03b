// The line of Python that is being executed, where the eDSL's errors are placed.
#pragma once

#include <tile_tune/where.h>

namespace tile_tune::python {

Where caller();
/// The same line as warnings.warn() counts: 1 is the innermost Python function.
int caller_level();

}  // namespace tile_tune::python
