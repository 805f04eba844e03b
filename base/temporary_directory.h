#pragma once

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

namespace tile_tune::base {

/// A new directory that is removed with the value, and all that is in it.
class TemporaryDirectory {
 public:
  /// In `parent`, named `prefix` and six characters that make it new; or an errno.
  static tl::expected<TemporaryDirectory, int> create(const std::filesystem::path& parent, const std::string& prefix);
  TemporaryDirectory() = default;  // none
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty: none
};

}  // namespace tile_tune::base
