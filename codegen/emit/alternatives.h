// The functions that one kernel of a package is compiled to: one for each instruction set.
#pragma once

#include <vector>

#include "codegen/emit/dispatch_text.h"

namespace tile_tune::codegen {

/// The kernel's variants, then the one for `target`: in the order in which a CPU is asked for them.
std::vector<Variant> alternatives_of(const Kernel& kernel, const Target& target);

/// What decides among them is made from this.
Result<std::vector<Alternative>> described_alternatives(const Kernel& kernel, const Target& target);

/// The signature that the kernel's entries are made from.
Result<Signature> entry_signature(const Kernel& kernel, const Target& target);

}  // namespace tile_tune::codegen
