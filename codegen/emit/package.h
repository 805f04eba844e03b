// Ahead-of-time packages: kernels as a static library with a plain C header (docs/libraries.md).
//
// Per kernel the library exports `int FN(const T* inputs..., T* outputs...)`, which checks pointers and CPU,
// FN_unchecked, which does not, FN_ctx with a context of the caller's and FN_dl on DLPack tensors; per library
// contexts, NAME_error_string and the codes in NAME.h. NAME.hpp is the same for C++20, on spans and views. Kernels lie
// in libNAME.a, what they share (folder runtime) in libtile_tune_rt.a, the same in every package of one version and
// architecture. Packages of several names may share a directory.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/sized_entry.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// The same program for another instruction set.
struct Variant {
  Target target;
  Schedule schedule;
  std::string provenance;
  nlohmann::json record;
  std::string rung = "";
};

/// `schedule` and what follows it are for PackageOptions::target.
struct Kernel {
  ir::Program program;  // canonical and bound
  Schedule schedule;
  std::string function;    // C name of the entry point
  std::string provenance;  // "tuned", "predicted", "steps", "nearest", "default", "given"
  nlohmann::json record;   // measured time, roofline, verification: goes into the manifest as it is
  std::string rung = "";   // of a tuned schedule how far it is to be trusted here: "exact", "rechecked", "stale"
  /// Kernels for targets that not every CPU has, in dispatch_order() (cpu_features.h): a call runs the first that its
  /// CPU has, else the one for PackageOptions::target. The same targets for every kernel of a package.
  std::vector<Variant> variants = {};
  /// Makes the entry one for many sizes; program and schedule are then those of the last member. Excludes variants and
  /// constants.
  std::optional<SizedEntry> entry = {};
  /// What is compiled in place of this kernel: the same of with_index_checks() of the program (ir/index_checks.h),
  /// whose last `checks` outputs the entries look at. Null: indices are not checked.
  std::shared_ptr<const Kernel> checked = {};
  size_t checks = 0;
  /// Where the sums of products of `program` are in steps, the program as it was written: what the kernel has to
  /// compute, and what its content hash is of. Signatures are equal.
  std::optional<ir::Program> written = {};
  const ir::Program& meaning() const { return written ? *written : program; }
};

/// The kernel whose functions a package holds.
inline const Kernel& compiled_form(const Kernel& kernel) { return kernel.checked ? *kernel.checked : kernel; }

struct PackageOptions {
  std::string name;  // names the library, its config files and its header
  std::filesystem::path directory;
  Target target;
  std::string tool_version;
  /// Objects and C sources (source_package.h) instead of archives also where these could be made.
  bool as_sources = false;
  /// Kernels come with their `checked` form where their programs have indices to check.
  bool checked = false;
  /// SHA-256 by path relative to the directory of every file but the manifest: a package that comes out differently is
  /// not written. Empty: it may be anything.
  std::map<std::string, std::string> expected = {};
};

/// The files of a package with archives, relative to its directory, sorted.
std::vector<std::filesystem::path> archive_package_files(const std::string& name);

/// Writes the package and returns the files written, relative to the directory, sorted. Everything is made in a
/// temporary directory beside the target and renamed at the end: on failure nothing half-written is left, and an older
/// package there is untouched. Of an older package of this name, files that the new one lacks are removed. Runs the
/// compiler, so only a fresh child process calls it.
Result<std::vector<std::filesystem::path>> write_package(const std::vector<Kernel>& kernels,
                                                         const PackageOptions& options);

}  // namespace tile_tune::codegen
