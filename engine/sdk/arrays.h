// Between a caller's strided arrays and compact ones.
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

/// Copies of arrays that describe_arrays() has passed.
NamedArrays read_arrays(const ir::Program& program, const Arrays& arrays);

/// Whether an array for each output of a bound program is there and fits it.
Result<void> check_outputs(const ir::Program& program, const Arrays& arrays);

/// A notice for each array of a bound program's that is no compact one in C order, and is copied element by element.
std::vector<Message> strided_arrays(const ir::Program& program, const Arrays& arrays);

/// Copies a compact C-ordered array into one that check_outputs() has passed.
void write_array(const tensor::Array& from, const Array& to);

}  // namespace tile_tune::engine
