#include "base/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tile_tune::base {

namespace fs = std::filesystem;

Result<void> write_text(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) return failure("cannot-write", fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  return {};
}

Result<std::string> read_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (!stream || !bytes)
    return failure("cannot-read", fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  return bytes.str();
}

}  // namespace tile_tune::base
