// The generated C of an entry that takes sizes: shapes and strides are made from them in each call.
#pragma once

#include "codegen/emit/sized_entry.h"
#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// In place of wrapper_text() (wrapper_text.h), for a signature with sizes; member i is compiled as
/// alternative_symbol(kernel_symbol(FUNCTION), i).
std::string sized_entry_text(const std::string& library, const Signature& kernel, const SizedEntry& entry,
                             const std::vector<std::string>& cpu_features);

/// By argument and dimension, over `names` of the sizes: "2 * N + 1".
std::vector<std::vector<std::string>> entry_extents(const SizedEntry& entry, const std::vector<std::string>& names);

}  // namespace tile_tune::codegen
