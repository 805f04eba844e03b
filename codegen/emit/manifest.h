// manifest.json: what is inside a package, enough to make it again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "codegen/emit/objects.h"

namespace tile_tune::codegen {

/// A file of the package and the SHA-256 of its bytes.
struct Digest {
  std::filesystem::path file;
  std::string sha256;
};

/// {"kind": "package", "format": 1, "name", "tool_version", "halide_version", "llvm_version", "target", "kernels":
/// [{"function", "content_hash", "program", "arguments", "schedule", "schedule_id", "provenance", "rung", "record",
/// "code_hash", "variants"}], "files"}; variants are of other instruction sets (package.h). Holds no date and no path of the machine.
nlohmann::json manifest(const PackageOptions& options, const std::vector<Kernel>& kernels,
                        const std::vector<Signature>& signatures, const std::vector<std::vector<Compiled>>& compiled,
                        const std::vector<Digest>& files);

}  // namespace tile_tune::codegen
