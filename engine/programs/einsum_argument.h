// einsum:SUBSCRIPTS as a PROGRAM argument, and what --dtype, --shape and arrays say of its operands.
#pragma once

#include <string>
#include <vector>

#include "engine/programs/array_sizes.h"
#include "engine/programs/bindings.h"
#include "engine/programs/loaded_program.h"

namespace tile_tune::engine {

bool is_einsum(const std::string& argument);

/// --dtype and --shape without any einsum to apply to are an error.
Result<void> check_einsum_options(const std::vector<std::string>& arguments, const BindingOptions& options);

/// An operand's name and the type that options give it, f32 where they give none.
struct EinsumOperand {
  std::string name;
  DType type;
};
Result<std::vector<EinsumOperand>> einsum_operands(const std::string& argument, const BindingOptions& options);

/// The program, its operands as options and `arrays` (by name) say. Options that disagree with an array are of class
/// Mismatch: "dtype-mismatch", "shape-mismatch". Its `sizes` hold every label's that a shape or -s gives.
Result<LoadedProgram> load_einsum(const std::string& argument, const BindingOptions& options,
                                  const NamedArrays& arrays = {});

}  // namespace tile_tune::engine
