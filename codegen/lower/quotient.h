// Division by what stays the same along a vector: softmax divides every element of a row by the row's sum.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// The same value with every quotient of f32 or f64 numbers whose divisor reads tensors at positions that depend on
/// `free` Vars alone, as a product with the divisor's reciprocal, which loops over other Vars compute once. Off by one
/// ulp at most; NaN, infinities, zeros and subnormal numbers come out as of a division. Before strict_float.
Halide::Expr with_reciprocals(const Halide::Expr& value, const std::vector<std::string>& free);

}  // namespace tile_tune::codegen
