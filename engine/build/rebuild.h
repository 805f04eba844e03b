// Packages made again from the manifest of an earlier one.
//
// A manifest is enough: it holds programs, schedules and the target in full, and what the files must come out as. It is
// data like everything from elsewhere: what it says is checked as if it were typed, and no name in it is used as a
// path.
#pragma once

#include <string>

#include "engine/packages/packaging.h"

namespace tile_tune::engine {

/// What `path` describes, to be written to `directory`; the files must come out as they were. Errors: cannot-open and
/// the like of class Failure; bad-manifest and another-version of class Program; a target that this machine does not
/// offer of class Target.
Result<Package> package_of_manifest(const std::string& path, const std::string& directory);

}  // namespace tile_tune::engine
