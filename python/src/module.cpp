// tile_tune._core: what of the package is C++. Python's modules beside it have the rest, and the documentation.
#include "python/src/module.h"

#include <tile_tune/version.h>

#include "python/src/errors.h"

NB_MODULE(_core, m) {
  using namespace tile_tune::python;
  register_errors();
  bind_edsl(m);
  bind_programs(m);
  bind_calls(m);
  m.attr("version") = tile_tune::version();
}
