// Syntax trees to programs: names, types, ranges, single-assignment versions (docs/tc.md).
#pragma once

#include "frontend/tc/ast.h"
#include "frontend/tc/scope.h"

namespace tile_tune::tc {

/// What may be spent on all defs of a text of so many bytes.
Budget budget_for(size_t bytes);

/// Linear in the text, but for what lets multiply, which is limited.
Result<ir::Program> analyze(const Source& source, const ast::Def& def, Budget& budget);

}  // namespace tile_tune::tc
