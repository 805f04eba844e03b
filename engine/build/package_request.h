// What a package is asked for with, and the kernels that follow from it.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/packages/packaging.h"
#include "engine/programs/bindings.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

struct PackageRequest {
  std::vector<std::string> programs;
  std::vector<LoadedProgram> loaded = {};  // in their place
  BindingOptions bindings;
  std::string directory, name, schedule, manifest;
  bool recheck = false;
  bool checked = false;
};

/// Programs with their best stored schedules, or those of a manifest: what is compiled and written. What would stop the
/// package is an error; what is worth a word of its programs and schedules is told. `stop` set from outside: an error.
Result<Package> package_of(const PackageRequest& request, const Session& session, const std::atomic<bool>& stop);

}  // namespace tile_tune::engine
