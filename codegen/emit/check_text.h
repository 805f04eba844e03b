// Parts of generated C for kernels that find indices outside of their tensors (Signature::checks).
//
// Such a kernel takes a scalar for each check behind its other buffers. Of any other kernel these texts are empty, and
// a call is the call.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// What the entries' functions need: before them, and among the variables of that which calls the kernel.
std::string check_function(const Signature& kernel);
std::string check_variables(const Signature& kernel);

/// Buffers on the stack that show these variables.
std::vector<std::string> check_buffers(const Signature& kernel);

/// Status of the call `call` of a kernel.
std::string checked_call(const Signature& kernel, const std::string& call);

}  // namespace tile_tune::codegen
