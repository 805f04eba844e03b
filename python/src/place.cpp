#include "python/src/place.h"

#include <set>
#include <string>

#include "python/src/python.h"

// Declared by headers beyond the limited API in 3.10, but in its ABI since 3.2.
extern "C" PyAPI_FUNC(PyFrameObject*) PyEval_GetFrame(void);

namespace tile_tune::python {

Where caller() {
  PyFrameObject* const frame = PyEval_GetFrame();  // borrowed; functions of this module have none of their own
  if (!frame) return {};
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  // Places keep the name, so that each is kept once for good. Guarded by Python's lock.
  static std::set<std::string>& files = *new std::set<std::string>;
  const auto& file = *files.insert(nb::str(code.attr("co_filename")).c_str()).first;
  return Where(file.c_str(), static_cast<uint32_t>(PyFrame_GetLineNumber(frame)));
}

}  // namespace tile_tune::python
