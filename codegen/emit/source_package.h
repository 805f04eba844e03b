// Packages for platforms that no archives are made for here (macOS, Windows, WebAssembly): the kernels as objects of
// the platform's format, and C sources of everything around them, which the platform's own GCC or Clang compiles as
// part of the program that uses them. NAMEConfig.cmake says how: NAME::NAME is the same target as of an archive.
//
//   lib/NAME/FUNCTION[_I].o      kernels (.obj on Windows); I of several instruction sets
//   src/NAME/FUNCTION.c, ...     entries, dispatch, contexts
//   src/tile_tune_rt/...         the runtime that all packages share, and Halide's names for it
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/objects.h"

namespace tile_tune::codegen {

/// The files that make_sources() writes, relative to the package's directory.
std::vector<std::filesystem::path> source_files(const std::vector<Kernel>& kernels, const PackageOptions& options);

/// Writes them below `root`; returns what the functions of each kernel compiled to.
Result<std::vector<std::vector<Compiled>>> make_sources(const ArchiveJob& job, const std::filesystem::path& root);

/// NAMEConfig.cmake.
std::string sources_config_text(const std::vector<Kernel>& kernels, const PackageOptions& options);

}  // namespace tile_tune::codegen
