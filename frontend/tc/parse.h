// Tensor Comprehensions text to IR (spec: language-tc.md; the user's own document is seeds/001).
//
// One Program per def, canonical in nothing but correct in everything: names resolved, types promoted with
// explicit casts, ranges inferred, versions of redefined tensors made single-assignment. Sizes stay symbolic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"

namespace tile_tune::tc {

struct Parsed {
  std::vector<ir::Program> programs;  // in the file's order
  std::vector<Diagnostic> warnings;
};

/// `file` is only used in messages. The first error ends it; class Program, with its place.
Result<Parsed> parse(std::string_view text, std::string file);

}  // namespace tile_tune::tc
