// Names of element types, as Python writes them.
#pragma once

#include <tile_tune/dtype.h>

#include <cstdint>

#include "python/src/python.h"

namespace tile_tune::python {

/// "float32", as numpy, PyTorch and JAX name it.
const char* name_of(DType type);
int64_t size_of(DType type);
/// From "float32" or "f32", numpy's dtypes and scalar types, PyTorch's and JAX's dtypes. Throws DTypeError.
DType dtype_from(nb::handle object);

}  // namespace tile_tune::python
