// Whether the disk that temporary files go to has room.
#pragma once

#include <filesystem>
#include <string>

namespace tile_tune::base {

/// Whether too little is left there for even one kernel.
bool is_disk_full(const std::filesystem::path& directory);
/// "no space is left for temporary files in DIR", and what to do. `directory`: a temporary one in DIR.
std::string no_space_text(const std::filesystem::path& directory);
inline constexpr const char* kNoSpaceNote = "make room there, or let TMPDIR name another folder";

}  // namespace tile_tune::base
