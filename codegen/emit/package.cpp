#include "codegen/emit/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "codegen/emit/config_text.h"
#include "codegen/emit/cpp_header_text.h"
#include "codegen/emit/header_text.h"
#include "codegen/emit/library_text.h"
#include "codegen/emit/manifest.h"
#include "codegen/emit/names.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/write_package.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

/// Files of a package, relative to its directory.
struct Files {
  explicit Files(const std::string& name)
      : library(fmt::format("lib/lib{}.a", name)),
        header(fmt::format("include/{}.h", name)),
        cpp_header(fmt::format("include/{}.hpp", name)),
        cmake(fmt::format("lib/cmake/{0}/{0}Config.cmake", name)),
        pkg_config(fmt::format("lib/pkgconfig/{}.pc", name)),
        manifest(fmt::format("share/{}/manifest.json", name)) {}

  fs::path library, header, cpp_header, cmake, pkg_config, manifest;
  fs::path runtime = "lib/libtile_tune_rt.a";

  /// Sorted.
  std::vector<fs::path> all() const {
    std::vector<fs::path> list = {header, cpp_header, cmake, library, runtime, pkg_config, manifest};
    std::sort(list.begin(), list.end());
    return list;
  }
};

/// No two external names of the package may be the same.
Result<void> check_distinct(const std::string& library, const std::vector<Signature>& signatures) {
  std::set<std::string> taken = {library + "_cpp", "Context", "DestroyContext", "Operand", "make_context"};
  for (const auto& names : {library_functions(library), library_types(library)})
    taken.insert(names.begin(), names.end());
  for (const Status& status : kStatuses) taken.insert(fmt::format("{}_{}", status_prefix(library), status.suffix));
  for (const Signature& signature : signatures)
    for (const std::string& entry : entry_points(signature))
      if (!taken.insert(entry).second)
        return fail(ErrorClass::Program, "duplicate-function",
                    fmt::format("library '{}' would hold two functions called '{}'", library, entry),
                    "rename one of the programs");
  return {};
}

Result<std::vector<Signature>> make_signatures(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  TILE_TUNE_CHECK(check_external_name("library", options.name));
  if (kernels.empty())
    return fail(ErrorClass::Program, "empty-package", fmt::format("library '{}' would hold no kernel", options.name));
  std::vector<Signature> signatures;
  for (const Kernel& kernel : kernels) {
    TILE_TUNE_TRY(signature, make_signature(kernel));
    signatures.push_back(std::move(signature));
  }
  TILE_TUNE_CHECK(check_distinct(options.name, signatures));
  return signatures;
}

Result<void> write_texts(const fs::path& root, const Files& files, const std::vector<Kernel>& kernels,
                         const std::vector<Signature>& signatures, const PackageOptions& options) {
  std::vector<Provenance> provenances;
  for (const Kernel& kernel : kernels) {
    const bool plain = kernel.rung.empty() || kernel.rung == kernel.provenance;
    provenances.push_back(
        {plain ? kernel.provenance : kernel.provenance + " (" + kernel.rung + ")", ir::content_hash(kernel.program)});
  }
  TILE_TUNE_CHECK(write_text(root / files.header, header_text(options, signatures, provenances)));
  TILE_TUNE_CHECK(write_text(root / files.cpp_header, cpp_header_text(options.name, signatures)));
  TILE_TUNE_CHECK(write_text(root / files.cmake, cmake_config_text(options.name)));
  return write_text(root / files.pkg_config, pkg_config_text(options.name, options.tool_version));
}

Result<void> check_digests(const std::map<std::string, std::string>& expected, const std::vector<Digest>& digests) {
  if (expected.empty()) return {};
  for (const Digest& digest : digests) {
    const auto one = expected.find(digest.file.generic_string());
    if (one == expected.end() || one->second != digest.sha256)
      return failure("not-reproduced",
                     fmt::format("{} does not come out as it was made", digest.file.generic_string()));
  }
  return {};
}

Result<void> write_manifest(const fs::path& root, const Files& files, const std::vector<Kernel>& kernels,
                            const std::vector<Signature>& signatures, const std::vector<Compiled>& compiled,
                            const PackageOptions& options) {
  std::vector<Digest> digests;
  for (const fs::path& file : files.all()) {
    if (file == files.manifest) continue;
    TILE_TUNE_TRY(bytes, read_bytes(root / file));
    digests.push_back({file, ir::sha256_hex(bytes)});
  }
  TILE_TUNE_CHECK(check_digests(options.expected, digests));
  TILE_TUNE_TRY(c_compiler, run_tool({"cc", "--version"}, root));
  const auto json =
      manifest(options, kernels, signatures, compiled, digests, c_compiler.substr(0, c_compiler.find('\n')));
  return write_text(root / files.manifest, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<std::vector<fs::path>> stage_and_commit(const Compiler& compiler, const std::vector<Kernel>& kernels,
                                               const PackageOptions& options) {
  TILE_TUNE_TRY(signatures, make_signatures(kernels, options));
  TILE_TUNE_TRY(staging, Staging::create(options.directory));
  const Files files(options.name);
  const fs::path root = staging.files();
  for (const fs::path& file : files.all()) {
    std::error_code error;
    fs::create_directories((root / file).parent_path(), error);
    if (error)
      return failure("cannot-write", fmt::format("cannot write {}: {}", options.directory.string(), error.message()));
  }
  TILE_TUNE_CHECK(write_texts(root, files, kernels, signatures, options));
  const ArchiveJob job{kernels, signatures, options, compiler, staging.work(), root / files.header.parent_path()};
  TILE_TUNE_TRY(compiled, make_archives(job, root / files.library, root / files.runtime));
  TILE_TUNE_CHECK(write_manifest(root, files, kernels, signatures, compiled, options));
  TILE_TUNE_CHECK(staging.commit(files.all()));
  return files.all();
}

}  // namespace

Result<std::vector<fs::path>> write_package_with(const Compiler& compiler, const std::vector<Kernel>& kernels,
                                                 const PackageOptions& options) {
  auto written = stage_and_commit(compiler, kernels, options);
  // Our own writes, the tools' and the compiler's end in the system's words; which temporary file it was helps nobody.
  if (!written && written.error().message.find(std::strerror(ENOSPC)) != std::string::npos)
    return failure("disk-full", fmt::format("no space is left for the package in {}", options.directory.string()),
                   "make room there, or give another folder");
  return written;
}

Result<std::vector<fs::path>> write_package(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  return write_package_with({compile_object}, kernels, options);
}

}  // namespace tile_tune::codegen
