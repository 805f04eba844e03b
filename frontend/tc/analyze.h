// Syntax trees to programs: names, types, ranges, single-assignment versions (spec: language-tc.md, "Meaning").
#pragma once

#include "frontend/tc/ast.h"

namespace tile_tune::tc {

/// One program for each def. Linear in the text, but for what lets multiply, which is limited.
Result<std::vector<ir::Program>> analyze(const Source& source, const ast::File& file);

}  // namespace tile_tune::tc
