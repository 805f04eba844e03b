// A CPU's unit for products of tiles of narrow numbers (AMX), which Linux lends to a process that asks for it.
#pragma once

namespace tile_tune::codegen {

/// Whether code with its instructions runs in this process, for bf16 and for bytes. Asks Linux for it (arch_prctl,
/// Documentation/arch/x86/xstate.rst), at the first call; the permission is the whole process's, and no child's.
bool may_use_matrix_unit();

}  // namespace tile_tune::codegen
