// tile_tune._core: what of the package is C++. Python's modules beside it have the rest, and the documentation.
#include "python/src/module.h"

#include <tile_tune/version.h>

#include "python/src/errors.h"

NB_MODULE(tile_tune, m) {
  using namespace tile_tune::python;
  nanobind::set_leak_warnings(false);  // what a program keeps to its end is not lost
  register_errors();
  bind_edsl(m);
  bind_programs(m);
  bind_calls(m);
  m.attr("version") = tile_tune::version();
}

/// Kernels, their types in Python and the thread that searches in the background are the process's.
extern "C" NB_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return PyInit_tile_tune();
  PyErr_SetString(PyExc_ImportError, "tile_tune works in the main interpreter alone");
  return nullptr;
}
