// C names: what may name a library, a function or a parameter in an emitted header.
//
// A package's functions are external symbols of the program that links it, so a kernel called `exp` or `main`
// would replace the C library's or the program's own. Such names are refused rather than mangled: a header
// must say what the user asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// Letters, digits and underscores, not starting with a digit.
bool is_c_identifier(std::string_view name);
/// A keyword of C11 or C++20, or a type or macro that usual compilers and headers define (linux, I, FILE, INT_MAX,
/// ...).
bool is_c_keyword(std::string_view name);
/// A function or object of C11's library or a common one of POSIX.
bool is_c_library_name(std::string_view name);

/// Checks a name that becomes an external symbol or a file name; `what` is "library" or "function". Class Program.
Result<void> check_external_name(std::string_view what, std::string_view name);

/// Parameter names for tensors: the tensor's own name where C and C++ allow it, else "arg0", "arg1", ... by position.
std::vector<std::string> parameter_names(const std::vector<std::string>& tensors);

}  // namespace tile_tune::codegen
