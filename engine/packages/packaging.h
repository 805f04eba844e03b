// Writing packages in a process of their own: names inside a library depend on a process's history, and the
// compiler may abort.
#pragma once

#include <atomic>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "codegen/backend/backend.h"
#include "codegen/emit/package.h"
#include "search/workers/onlooker.h"

namespace tile_tune::engine {

struct Package {
  std::vector<codegen::Kernel> kernels;
  codegen::PackageOptions options;
};

/// Of "kernels", "name", "target", "tool_version", "checked" and "files" of a manifest (codegen/emit/manifest.h), which
/// is also how packages are asked for. Programs and schedules are valid by themselves, nothing else is checked; a
/// missing field or one of another type throws nlohmann::json::exception.
Result<Package> package_from_json(const nlohmann::json& json, const std::filesystem::path& directory);

/// codegen::write_package in a fresh child process, of kernels that compute there what the reference does: else class
/// Verification. Returns the paths of the files written. `stop` (may be null) set from outside: the child
/// is ended and leaves nothing. `onlooker` is told of waiting for the machine. `executable`: Session::executable.
Result<std::vector<std::string>> package_in_child(const std::vector<codegen::Kernel>& kernels,
                                                  const codegen::PackageOptions& options, const std::string& executable,
                                                  const search::Onlooker& onlooker,
                                                  const std::atomic<bool>* stop = nullptr);

/// The child's side: what it answers on its standard output to what it reads from its standard input.
std::string answer_package_request(const std::string& request, const codegen::Backend& backend);

}  // namespace tile_tune::engine
