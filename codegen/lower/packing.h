// Functions that pack constants before any kernel runs (codegen/schedule/packed_form.h).
#pragma once

#include "codegen/lower/lower.h"

namespace tile_tune::codegen {

/// The function of one constant: from the buffer of the tensor to that of the form.
Lowered lower_packing(const ir::Program& program, const PackedForm& form, const Target& target);

}  // namespace tile_tune::codegen
