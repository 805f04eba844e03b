// Infinities that are known when a kernel is compiled. LLVM takes floats for finite where they are not strict, so that
// of a constant it knows to be infinite (1 / i where i is 0, once a loop is unrolled) anything may come.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Whether a division by what indices, sizes and literals alone say may be one by 0, or a logarithm of the like one of
/// 0 or less: then the whole kernel is to be strict. Elements of temporaries that nothing writes are among what they
/// say. Bounds are taken over a statement's indices.
bool has_known_pole(const ir::Program& program);

}  // namespace tile_tune::codegen
