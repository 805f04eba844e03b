// Untyped numbers of the front ends, as a type holds them.
#pragma once

#include "frontend/ir/expr.h"

namespace tile_tune::ir {

/// The number (no bool) as a literal of an integer or float type; nullopt if the type cannot hold it. A float type
/// holds what is in its range, rounded, and infinities and NaN.
std::optional<Literal> literal_as(const Literal& literal, DType type);

}  // namespace tile_tune::ir
