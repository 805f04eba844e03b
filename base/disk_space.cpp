#include "base/disk_space.h"

#include <fmt/format.h>

namespace tile_tune::base {

bool is_disk_full(const std::filesystem::path& directory) {
  constexpr uintmax_t kTooLittle = 1 << 16;  // a kernel's object and library take more
  std::error_code error;
  const auto space = std::filesystem::space(directory, error);
  return !error && space.available < kTooLittle;
}

std::string no_space_text(const std::filesystem::path& directory) {
  return fmt::format("no space is left for temporary files in {}", directory.parent_path().string());
}

}  // namespace tile_tune::base
