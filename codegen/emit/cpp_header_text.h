// The C++20 header of a package: its kernels on spans and views, checked by what these say of themselves.
#pragma once

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// LIBRARY.hpp: namespace LIBRARY_cpp with a function for each kernel and each packing of a constant, on top of
/// LIBRARY.h.
std::string cpp_header_text(const std::string& library, const std::vector<Signature>& kernels);

}  // namespace tile_tune::codegen
