#include "codegen/emit/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/sha256.h"
#include "codegen/emit/alternatives.h"
#include "codegen/emit/config_text.h"
#include "codegen/emit/cpp_header_text.h"
#include "codegen/emit/header_text.h"
#include "codegen/emit/library_text.h"
#include "codegen/emit/manifest.h"
#include "codegen/emit/c_names.h"
#include "codegen/emit/obsolete.h"
#include "codegen/emit/source_package.h"
#include "codegen/emit/staging.h"
#include "codegen/emit/subprocess.h"
#include "codegen/emit/write_package.h"
#include "codegen/lower/halide_backend.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

/// Files of a package, relative to its directory. `sources`: what it has in place of archives, or nothing.
struct Files {
  Files(const std::string& name, std::vector<fs::path> sources)
      : library(fmt::format("lib/lib{}.a", name)),
        header(fmt::format("include/{}.h", name)),
        cpp_header(fmt::format("include/{}.hpp", name)),
        cmake(fmt::format("lib/cmake/{0}/{0}Config.cmake", name)),
        cmake_version(fmt::format("lib/cmake/{0}/{0}ConfigVersion.cmake", name)),
        pkg_config(fmt::format("lib/pkgconfig/{}.pc", name)),
        manifest(fmt::format("share/{}/manifest.json", name)),
        all(std::move(sources)) {
    if (all.empty()) all = {library, runtime, pkg_config};
    all.insert(all.end(), {header, cpp_header, cmake, cmake_version, manifest});
    std::sort(all.begin(), all.end());
  }

  fs::path runtime = "lib/libtile_tune_rt.a";
  fs::path library, header, cpp_header, cmake, cmake_version, pkg_config, manifest;
  std::vector<fs::path> all;  // sorted
};

/// No two external names of the package may be the same.
Result<void> check_distinct(const std::string& library, const std::vector<Signature>& signatures) {
  std::set<std::string> taken = {library + "_cpp", "Context", "DestroyContext", "Operand", "make_context"};
  for (const auto& names : {library_functions(library), library_types(library)})
    taken.insert(names.begin(), names.end());
  for (const Status& status : kStatuses) taken.insert(fmt::format("{}_{}", status_prefix(library), status.suffix));
  for (const Signature& signature : signatures) {
    auto names = entry_points(signature);
    for (const Argument& argument : signature.arguments)
      if (argument.packed) names.push_back(packed_type(signature, argument));
    for (const std::string& name : names)
      if (!taken.insert(name).second)
        return fail(ErrorClass::Program, "duplicate-function",
                    fmt::format("library '{}' would hold two functions or types called '{}'", library, name),
                    "rename one of the programs");
  }
  return {};
}

Result<std::vector<Signature>> make_signatures(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  TILE_TUNE_CHECK(check_external_name("library", options.name));
  if (kernels.empty())
    return fail(ErrorClass::Program, "empty-package", fmt::format("library '{}' would hold no kernel", options.name));
  std::vector<Signature> signatures;
  for (const Kernel& kernel : kernels) {
    TILE_TUNE_TRY(signature, entry_signature(kernel, options.target));
    signatures.push_back(std::move(signature));
  }
  TILE_TUNE_CHECK(check_distinct(options.name, signatures));
  return signatures;
}

/// "tuned (exact)"; of several instruction sets "tuned (exact) for x86-64-linux-avx2, default for x86-64-linux".
std::string provenance_text(const Kernel& kernel, const Target& target) {
  std::vector<std::string> texts;
  for (const auto& one : alternatives_of(kernel, target)) {
    const bool plain = one.rung.empty() || one.rung == one.provenance;
    texts.push_back(plain ? one.provenance : one.provenance + " (" + one.rung + ")");
    if (!kernel.variants.empty()) texts.back() += " for " + one.target.text();
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<void> write_texts(const fs::path& root, const Files& files, const std::vector<Kernel>& kernels,
                         const std::vector<Signature>& signatures, const PackageOptions& options, bool as_sources) {
  std::vector<Provenance> provenances;
  for (const Kernel& kernel : kernels)
    provenances.push_back({provenance_text(kernel, options.target), ir::content_hash(kernel.meaning())});
  TILE_TUNE_CHECK(base::write_text(root / files.header, header_text(options, signatures, provenances, as_sources)));
  TILE_TUNE_CHECK(base::write_text(root / files.cpp_header, cpp_header_text(options.name, signatures)));
  TILE_TUNE_CHECK(base::write_text(root / files.cmake_version, cmake_version_text(options.tool_version)));
  if (as_sources) return base::write_text(root / files.cmake, sources_config_text(kernels, options));
  TILE_TUNE_CHECK(base::write_text(root / files.cmake, cmake_config_text(options.name)));
  return base::write_text(root / files.pkg_config, pkg_config_text(options.name, options.tool_version));
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

/// "cc (Debian 12.2.0-14) 12.2.0"; empty where none has a part in the package.
Result<std::string> c_compiler_version(const ArchiveJob& job) {
  if (job.tools.cc.empty()) return std::string();
  TILE_TUNE_TRY(text, run_tool({job.tools.cc, "--version"}, job.work));
  return text.substr(0, text.find('\n'));
}

Result<void> write_manifest(const fs::path& root, const Files& files, const ArchiveJob& job,
                            const std::vector<std::vector<Compiled>>& compiled) {
  std::vector<Digest> digests;
  for (const fs::path& file : files.all) {
    if (file == files.manifest) continue;
    TILE_TUNE_TRY(bytes, base::read_bytes(root / file));
    digests.push_back({file, base::sha256_hex(bytes)});
  }
  TILE_TUNE_CHECK(check_digests(job.options.expected, digests));
  TILE_TUNE_TRY(c_compiler, c_compiler_version(job));
  const auto json = manifest(job.options, job.kernels, job.signatures, compiled, digests, c_compiler);
  return base::write_text(root / files.manifest,
                          json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<std::vector<fs::path>> stage_and_commit(const Backend& backend, const std::vector<Kernel>& kernels,
                                               const PackageOptions& options) {
  TILE_TUNE_TRY(signatures, make_signatures(kernels, options));
  const auto tools = toolchain_for(options.target);
  const bool as_sources = !tools || options.as_sources;
  if (as_sources && options.target.device == Device::Gpu)
    return fail(ErrorClass::Target, "sources-for-device",
                fmt::format("a package of sources cannot hold kernels for {}", options.target.text()),
                "packages for devices are archives, for Linux on x86-64 or AArch64");
  if (!as_sources) TILE_TUNE_CHECK(check_installed(*tools, options.target));
  TILE_TUNE_TRY(staging, Staging::create(options.directory));
  const Files files(options.name, as_sources ? source_files(kernels, options) : std::vector<fs::path>());
  const fs::path root = staging.files();
  for (const fs::path& file : files.all) {
    std::error_code error;
    fs::create_directories((root / file).parent_path(), error);
    if (error)
      return failure("cannot-write", fmt::format("cannot write {}: {}", options.directory.string(), error.message()));
  }
  TILE_TUNE_CHECK(write_texts(root, files, kernels, signatures, options, as_sources));
  const ArchiveJob job{kernels,
                       signatures,
                       options,
                       backend,
                       as_sources ? Toolchain() : *tools,
                       staging.work(),
                       root / files.header.parent_path()};
  TILE_TUNE_TRY(compiled,
                as_sources ? make_sources(job, root) : make_archives(job, root / files.library, root / files.runtime));
  TILE_TUNE_CHECK(write_manifest(root, files, job, compiled));
  const auto obsolete = obsolete_files(options.directory, options.name, files.all);
  TILE_TUNE_CHECK(staging.commit(files.all));
  std::error_code ignored;  // the package is there
  for (const fs::path& file : obsolete) fs::remove(options.directory / file, ignored);
  return files.all;
}

}  // namespace

std::vector<fs::path> archive_package_files(const std::string& name) { return Files(name, {}).all; }

Result<std::vector<fs::path>> write_package_with(const Backend& backend, const std::vector<Kernel>& kernels,
                                                 const PackageOptions& options) {
  auto written = stage_and_commit(backend, kernels, options);
  // Our own writes, the tools' and the compiler's end in the system's words; which temporary file it was helps nobody.
  if (!written && written.error().message.find(std::strerror(ENOSPC)) != std::string::npos)
    return failure("disk-full", fmt::format("no space is left for the package in {}", options.directory.string()),
                   "make room there, or give another folder");
  return written;
}

Result<std::vector<fs::path>> write_package(const std::vector<Kernel>& kernels, const PackageOptions& options) {
  return write_package_with(halide_backend(), kernels, options);
}

}  // namespace tile_tune::codegen
