// What tests of the engine on arrays have in common.
#pragma once

#include <tile_tune/kernel.h>

#include <vector>

#include "tests/integration/cli/sandbox.h"

namespace tile_tune::test {

inline std::vector<float> floats(int64_t count, int factor) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i) * factor % 11 - 5);
  return values;
}

/// With everything that is kept in the test's own folder.
inline engine::CompileOptions handle_options(const Sandbox& box) {
  engine::CompileOptions options;
  options.executable = TILE_TUNE_BINARY;
  options.database = box.path("tuning.db").string();
  options.cache = box.path("kernels").string();
  options.on_message = [](const Message&) {};
  return options;
}

}  // namespace tile_tune::test
