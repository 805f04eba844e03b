// One statement of a def: its ranges, its types, and the tensor version it writes.
#pragma once

#include "frontend/tc/scope.h"

namespace tile_tune::tc {

/// Adds the statement to the def's program and makes the tensor it writes the present version of its name.
/// All versions are added as temporaries named like the symbol; finish_versions() sorts them out.
Result<void> add_statement(const Source& source, const ast::Statement& statement, Budget& budget, DefScope& def);

/// Adds the value a caller's buffer has on entry as the present version of an in/out output.
void add_initial_value(std::string_view name, DType type, std::vector<ir::SizeExpr> extents, DefScope& def);

}  // namespace tile_tune::tc
