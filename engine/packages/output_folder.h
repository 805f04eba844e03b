// Where results go: found unusable before the work, not after it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// Files and folders that were not there before; they go again unless they are kept.
class Fresh {
 public:
  Fresh() = default;
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  ~Fresh();
  void expect(const std::filesystem::path& path);
  void keep() { paths_.clear(); }

 private:
  std::vector<std::filesystem::path> paths_;
};

Result<void> make_folder(const std::filesystem::path& directory, Fresh& fresh);

/// A file can be written into `directory` and each of these folders below it, or they can be made; nothing is.
Result<void> check_writable(const std::filesystem::path& directory, const std::vector<std::string>& folders = {});

/// The same for a package of this name, in the place of whose files no folders may stand.
Result<void> check_package_folder(const std::filesystem::path& directory, const std::string& name);

/// Results of these names can be written there: what stands in their place may be a file, but not a folder.
Result<void> check_result_files(const std::filesystem::path& directory, const std::vector<std::string>& files);

}  // namespace tile_tune::engine
