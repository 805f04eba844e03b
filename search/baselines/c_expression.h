// Expressions of the IR as C++ text.
#pragma once

#include <optional>
#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// Index number i is the variable `i<number>`, tensor number t the pointer `t<number>`. 16-bit floats are computed with
/// as float. nullopt where an operation has no text.
std::optional<std::string> c_expression(const ir::Program& program, const ir::Expr& expr);
std::string c_affine(const ir::AffineExpr& expr);
/// The element's offset in its tensor.
std::optional<std::string> c_offset(const ir::Program& program, int tensor,
                                    const std::vector<ir::Subscript>& subscripts);
/// The type values of an element type are computed in.
std::string c_value_type(DType type);

}  // namespace tile_tune::search
