// From kernels to archives: Halide's objects and the generated C become one archive member per kernel that
// exports nothing but the kernel's entries.
#pragma once

#include <filesystem>

#include "codegen/backend/backend.h"
#include "codegen/emit/signature.h"
#include "codegen/emit/toolchain.h"

namespace tile_tune::codegen {

struct ArchiveJob {
  const std::vector<Kernel>& kernels;
  const std::vector<Signature>& signatures;  // one per kernel
  const PackageOptions& options;
  const Backend& backend;
  Toolchain tools;
  std::filesystem::path work;     // an empty directory for intermediate files, absolute
  std::filesystem::path include;  // where LIBRARY.h lies, absolute
};

/// Compiles each of functions_of() to one of these files, of which there are as many; returns what each compiled to.
Result<std::vector<Compiled>> compile_functions(const ArchiveJob& job, const Kernel& kernel,
                                                const std::vector<std::filesystem::path>& objects);

/// Writes libNAME.a to `library` and libtile_tune_rt.a to `runtime` (absolute paths); returns what the functions
/// of each kernel compiled to. Kernels are compiled on all cores at once, each in a child of this process
/// (base/process/children.h).
/// Bytes of the archives depend on kernels, options and tool versions alone, not on any path.
Result<std::vector<std::vector<Compiled>>> make_archives(const ArchiveJob& job, const std::filesystem::path& library,
                                                         const std::filesystem::path& runtime);

}  // namespace tile_tune::codegen
