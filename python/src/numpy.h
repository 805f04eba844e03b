// numpy's C API, as far as it is used; numpy itself is optional.
#pragma once

#include <tile_tune/dtype.h>

#include <optional>

#include "python/src/python.h"

// Files other than numpy.cpp use the functions that it has imported.
#define PY_ARRAY_UNIQUE_SYMBOL tile_tune_numpy_api
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#ifndef TILE_TUNE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

namespace tile_tune::python {

/// numpy.ndarray once this process has imported numpy and something looked for it; null before.
extern PyTypeObject* numpy_array_type;

/// Looks whether numpy was imported since.
bool find_numpy();
/// Imports it; false where there is none.
bool import_numpy();

/// nullopt: none that kernels know, or not in the machine's byte order.
std::optional<DType> dtype_of(PyArray_Descr* element);
/// A new reference; null and a Python error where bfloat16 is asked for and there is no ml_dtypes.
PyArray_Descr* element_of(DType type);

}  // namespace tile_tune::python
