#include "base/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <utility>

namespace tile_tune::base {

namespace fs = std::filesystem;

tl::expected<TemporaryDirectory, int> TemporaryDirectory::create(const fs::path& parent, const std::string& prefix) {
  std::string path = (parent / (prefix + "XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) return tl::unexpected(errno);
  return TemporaryDirectory(fs::path(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace tile_tune::base
