// manifest.json: what is inside a package, enough to make it again.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "codegen/emit/objects.h"

namespace tile_tune::codegen {

/// A file of the package and the SHA-256 of its bytes.
struct Digest {
  std::filesystem::path file;
  std::string sha256;
};

inline constexpr int kManifestFormat = 1;

/// {"kind": "package", "format", "name", "tool_version", "halide_version", "llvm_version", "c_compiler", "target",
/// "kernels": [{"function", "content_hash", "program", "arguments", "schedule", "schedule_id", "provenance", "rung",
/// "record", "code_hash", "variants"}], "files": path -> SHA-256}; variants are of other instruction sets (package.h).
/// Holds no date and no path of the machine. `c_compiler` is empty where none had a part in it.
nlohmann::json manifest(const PackageOptions& options, const std::vector<Kernel>& kernels,
                        const std::vector<Signature>& signatures, const std::vector<std::vector<Compiled>>& compiled,
                        const std::vector<Digest>& files, const std::string& c_compiler);

}  // namespace tile_tune::codegen
