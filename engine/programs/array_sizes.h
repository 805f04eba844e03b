// Sizes of a program from the shapes of the arrays it is run on.
#pragma once

#include <map>
#include <string>

#include "frontend/ir/program.h"
#include "frontend/tensor/array.h"

namespace tile_tune::engine {

/// Arrays by the name of the tensor they are for.
using NamedArrays = std::map<std::string, tensor::Array>;

/// The program with inputs stored as their arrays are, so that kernels take these as they lie; but for those of which
/// `layouts` (as with --layout) say something.
ir::Program with_storage_of(ir::Program program, const NamedArrays& arrays, const std::vector<std::string>& layouts);

/// Positions of inputs whose value is a size: integers without dimensions that bound a range.
std::vector<size_t> size_inputs(const ir::Program& program);

/// Every size that a dimension of an array is, together with `given` (from -s). Errors, all of class Mismatch:
/// dtype-mismatch, rank-mismatch, size-conflict (names both values and where each comes from).
Result<ir::Sizes> infer_sizes(const ir::Program& program, const NamedArrays& arrays, const ir::Sizes& given);

}  // namespace tile_tune::engine
