// All statements of a program as scheduled Funcs, each computed where its schedule says.
#pragma once

#include "codegen/lower/stage.h"

namespace tile_tune::codegen {

/// True if an expression of the program reads the tensor.
bool reads(const ir::Program& program, int tensor);

/// `values` holds the Funcs that expressions read inputs from, of constants packed beforehand (`forms`) the packed
/// elements, and gets one for every statement's target; `initial` holds the elements of the caller's buffers.
void lower_statements(const ir::Program& program, const Schedule& schedule, const Target& target,
                      const std::vector<PackedForm>& forms, const TensorFuncs& initial, TensorFuncs& values);

}  // namespace tile_tune::codegen
