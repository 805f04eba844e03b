// Between a caller's arrays and those that travel to a worker process and back.
#pragma once

#include <tile_tune/engine.h>

#include <string>

#include "engine/programs/array_sizes.h"
#include "frontend/ir/program.h"

namespace tile_tune::engine {

/// Types and shapes of the arrays that `program` reads, its inputs and the values in/out outputs start from; of those
/// without dimensions the elements, too. Errors, class Mismatch: missing-array, unknown-array (a name that no argument
/// has), dtype-mismatch, bad-array.
Result<NamedArrays> describe_arrays(const ir::Program& program, const Arrays& arrays);

/// The program with arguments stored in the order of their arrays, as far as these have strides: dimensions in the same
/// order and direction, with nothing between elements, which would only have to travel, too.
ir::Program with_storage_of(ir::Program program, const Arrays& arrays);

/// Copies of arrays that describe_arrays() has passed, each as the bound program stores its tensor.
NamedArrays read_arrays(const ir::Program& program, const Arrays& arrays);

/// Whether an array for each output of a bound program is there and fits it.
Result<void> check_outputs(const ir::Program& program, const Arrays& arrays);

/// Copies a result into an array that check_outputs() has passed.
void write_array(const tensor::Array& from, const Array& to);

}  // namespace tile_tune::engine
