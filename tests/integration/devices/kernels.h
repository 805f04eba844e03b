// Kernels for devices made by hand: what is judged here is the judge, and what makes packages.
#pragma once

#include <filesystem>
#include <string>

#include "codegen/backend/backend.h"

namespace tile_tune::test {

enum class Doubling {
  Right,
  Wrong,      // one more
  Outside,    // reads the row below
  Endless,    // does not come to an end in any test's time
  InTwoSteps  // through an intermediate in the device's memory
};

/// An object for doubling() (tests/unit/judge/programs.h) of any size, under the name that workers give kernels.
void compile_doubling(Doubling kind, const std::filesystem::path& object);
/// For accumulating().
void compile_accumulating(const std::filesystem::path& object);

/// Makes these two, right and in two steps, whatever the schedule says.
codegen::Backend handmade_backend();

}  // namespace tile_tune::test
