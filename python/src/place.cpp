#include "python/src/place.h"

#include <set>
#include <string>

#include "python/src/python.h"

// Declared by headers beyond the limited API in 3.10, but in its ABI since 3.2.
extern "C" PyAPI_FUNC(PyFrameObject*) PyEval_GetFrame(void);

namespace tile_tune::python {

namespace {

struct Frame {
  nb::object frame;    // null: there is no such line
  int package_frames;  // of this package, inside of it
};

std::string file_of(nb::handle frame) { return path_of(frame.attr("f_code").attr("co_filename")); }

/// Functions of this module have no frames; those of the package's Python are passed over.
Frame user_frame() {
  static const std::string& package = *new std::string(path_of(nb::module_::import_("tile_tune").attr("__path__")[0]));
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  int inside = 0;
  for (; frame.is_valid() && !frame.is_none() && file_of(frame).starts_with(package + "/"); ++inside)
    frame = frame.attr("f_back");
  if (frame.is_valid() && frame.is_none()) frame.reset();
  return {std::move(frame), inside};
}

}  // namespace

Where caller() {
  const nb::object frame = user_frame().frame;
  if (!frame.is_valid()) return {};
  // Places keep the name, so that each is kept once for good. Guarded by Python's lock.
  static std::set<std::string>& files = *new std::set<std::string>;
  const auto& file = *files.insert(file_of(frame)).first;
  return Where(file.c_str(), nb::cast<uint32_t>(frame.attr("f_lineno")));
}

int caller_level() { return user_frame().package_frames + 1; }

}  // namespace tile_tune::python
