// The line of Python that is being executed, where the eDSL's errors are placed.
#pragma once

#include <tile_tune/where.h>

namespace tile_tune::python {

Where caller();

}  // namespace tile_tune::python
