// The generated C source of what a library has once, however many kernels: its contexts and its error texts.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// Definitions of library_functions(); includes LIBRARY.h, so that the compiler compares the two.
std::string library_text(const std::string& library, Driver driver);

/// External symbols of library_text(), whatever the driver: LIBRARY_error_string, LIBRARY_context_create, ...
std::vector<std::string> library_functions(const std::string& library);

/// Types that LIBRARY.h names: LIBRARY_status, LIBRARY_context, ...
std::vector<std::string> library_types(const std::string& library);

}  // namespace tile_tune::codegen
