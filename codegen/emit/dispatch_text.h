// The generated C that decides, when a kernel is called, which of the functions compiled for it runs.
//
// The entries (wrapper_text.h) call one symbol with Halide's buffers, and know nothing of this: with several
// instruction sets that symbol is a function of this text, which asks the CPU once. Schedules for other instruction
// sets pack constants in other forms, so what the entries say of a packed operand is put right here.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// One compiled function: what its CPU must have, and the kernel's signature with its packed forms.
struct Alternative {
  std::vector<std::string> cpu_features;
  Signature signature;
};

/// The symbol of alternative `number` of the function compiled as `symbol`.
std::string alternative_symbol(const std::string& symbol, size_t number);

/// C that defines `symbol`, and what packs its constants: the first alternative whose features the CPU has, else the
/// last. Takes no lock and has no effect before the first call; the choice costs one load after that.
std::string cpu_dispatch_text(const std::string& symbol, const std::vector<Alternative>& alternatives);

/// A function of it, `int()`: the number of the alternative that this CPU runs. It is there if there are constants.
std::string chosen_function(const std::string& symbol);

/// `signature` of the last alternative, with room for the packed operands of all of them.
Signature with_room_for_all(const std::vector<Alternative>& alternatives);

}  // namespace tile_tune::codegen
