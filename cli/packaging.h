// Writing packages in a process of their own: names inside a library depend on a process's history, and the
// compiler may abort.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/emit/package.h"

namespace tile_tune::cli {

/// codegen::write_package in a fresh child process. Returns the files written, relative to the directory.
Result<std::vector<std::filesystem::path>> package_in_child(const std::vector<codegen::Kernel>& kernels,
                                                            const codegen::PackageOptions& options);

/// The child's side: a request on standard input, an answer on standard output.
Result<void> serve_package_request();

/// Nothing if a package may be written into `directory`, which need not exist yet; else why not.
Result<void> check_writable(const std::filesystem::path& directory);

}  // namespace tile_tune::cli
