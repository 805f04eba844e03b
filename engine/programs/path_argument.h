// --path of an einsum: which two operands each step contracts.
#pragma once

#include <string>

#include "frontend/einsum/einsum.h"

namespace tile_tune::engine {

/// "1,2;0,1" as parentheses (EinsumOptions::path). Class Program, "bad-path", placed in the text: what is no pair of
/// numbers, no place in what is left, a path that ends too early; an einsum whose own parentheses fix an order.
Result<plan::Group> order_by_path(const std::string& path, const einsum::Einsum& einsum);

/// The order of an einsum's program in the same words; "" of fewer than three operands.
std::string path_of(const ir::Program& einsum);

}  // namespace tile_tune::engine
