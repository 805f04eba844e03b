#include "codegen/emit/obsolete.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "codegen/emit/c_names.h"

namespace tile_tune::codegen {
namespace {

namespace fs = std::filesystem;

bool is_of_library(const fs::path& file, const std::string& library) {
  if (file == fs::path("lib") / ("lib" + library + ".a") || file == fs::path("lib/pkgconfig") / (library + ".pc"))
    return true;
  const fs::path folder = file.parent_path(), kind = file.extension();
  if (folder != fs::path("lib") / library && folder != fs::path("src") / library) return false;
  return (kind == ".c" || kind == ".o" || kind == ".obj") && is_c_identifier(file.stem().string());
}

}  // namespace

std::vector<fs::path> obsolete_files(const fs::path& directory, const std::string& library,
                                     const std::vector<fs::path>& files) {
  const fs::path path = directory / "share" / library / "manifest.json";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  const auto text = base::read_bytes(path);
  if (!text) return {};
  const auto manifest = nlohmann::json::parse(*text, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object()) return {};
  std::vector<fs::path> obsolete;
  for (const auto& [name, digest] : manifest["files"].items()) {
    const fs::path file = name;
    if (is_of_library(file, library) && std::find(files.begin(), files.end(), file) == files.end() &&
        !fs::is_symlink(directory / file.parent_path(), error))
      obsolete.push_back(file);
  }
  return obsolete;
}

}  // namespace tile_tune::codegen
