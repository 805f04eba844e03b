// What PyTorch knows of its tensors beside where their elements lie.
#pragma once

#include "python/src/python.h"

namespace tile_tune::python::torch {

/// Throws for a tensor that is more than its elements, or whose operations something records that would not see a
/// kernel's: the exchange table and, for negative bits, `__dlpack__` ignore that.
void check(nb::handle tensor, bool is_complex);

/// Throws for a tensor that shows no memory and why is known.
void check_wrapped(nb::handle tensor);

/// Tells autograd that the elements changed, so that a gradient that needs the old ones is refused instead of wrong.
void note_written(nb::handle tensor);

}  // namespace tile_tune::python::torch
