// Generated C around packed operands: what their memory begins with, what compares that, and what packs them.
#pragma once

#include <string>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// What a kernel compiled for `instruction_set` (cpu_features.h) takes in place of the constant, told apart by 64 hex
/// digits: equal for equal bytes of equal elements on the same instruction set, whatever the kernel.
std::string packed_digest(const Argument& constant, const std::string& instruction_set);

/// What the memory of each packed operand begins with, and `int tile_tune_check_constants(void* const* pointers)`,
/// which compares that; nothing for a kernel without constants.
std::string packed_check_text(const Signature& kernel);

/// The packing entries of the kernel's constants. Needs packed_check_text(), and the tables of wrapper_text.cpp.
std::string packing_texts(const Signature& kernel);

}  // namespace tile_tune::codegen
