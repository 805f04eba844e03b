// Programs and diagnostics as the text that golden files hold.
#pragma once

#include <string>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

/// Sizes, tensors, and for each statement its target, every index with its range and reason, and the value as
/// a prefix expression with all types: (add f32 (read f32 A i) (cast f32 (read i32 B i))).
std::string dump(const ir::Program& program);

}  // namespace tile_tune::test
