// Entries of kernels that take strides from their caller (ir::FromBuffer).
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

bool takes_strides(const Argument& argument);
bool takes_strides(const Signature& kernel);

/// The parameter of the argument's strides, PARAMETER_strides: one for each dimension, in elements.
std::string strides_parameter(const Signature& kernel, const Argument& argument);

/// Strides as C has them: numbers, or `any` for those that the caller gives.
std::vector<std::string> stride_words(const Argument& argument, const std::string& any);

/// struct tile_tune_frame, what a call knows of its arguments, and the function that fills it.
std::string frame_text(const Signature& kernel);

/// The entries, of which `constants` is the check of packed operands.
std::string strided_entries(const std::string& library, const Signature& kernel, const std::string& constants);

}  // namespace tile_tune::codegen
