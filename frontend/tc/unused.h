// What is legal in a def, but more often a slip in a name: inputs and indices that nothing uses.
#pragma once

#include <vector>

#include "frontend/tc/ast.h"
#include "frontend/tc/source_text.h"

namespace tile_tune::tc {

/// Warnings "unused-input" and "unused-index", of a def that was found right.
std::vector<Diagnostic> find_unused(const Source& source, const ast::Def& def);

}  // namespace tile_tune::tc
