// The functions that one kernel of a package is compiled to: one for each instruction set, or for some of many sizes.
#pragma once

#include <vector>

#include "codegen/emit/dispatch_text.h"

namespace tile_tune::codegen {

/// The kernel's variants, then the one for `target`: in the order in which a CPU is asked for them.
std::vector<Variant> alternatives_of(const Kernel& kernel, const Target& target);

/// One of the functions of a kernel: of several targets, or of many sizes, there are several.
struct KernelFunction {
  ir::Program program;
  Schedule schedule;
  Target target;
  std::string symbol;
};
/// In the order of alternatives_of(), or of the entry's members.
std::vector<KernelFunction> functions_of(const Kernel& kernel, const Target& target);

/// What decides among them is made from this.
Result<std::vector<Alternative>> described_alternatives(const Kernel& kernel, const Target& target);

/// The signature that the kernel's entries are made from.
Result<Signature> entry_signature(const Kernel& kernel, const Target& target);

/// The C source of the entries: wrapper_text(), of an entry for many sizes sized_entry_text().
std::string entries_text(const std::string& library, const Signature& signature, const Kernel& kernel,
                         const std::vector<std::string>& cpu_features);

}  // namespace tile_tune::codegen
