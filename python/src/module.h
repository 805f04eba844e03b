// The parts of tile_tune._core.
#pragma once

#include "python/src/python.h"

namespace tile_tune::python {

void bind_edsl(nb::module_& m);
void bind_programs(nb::module_& m);
void bind_calls(nb::module_& m);

}  // namespace tile_tune::python
