// What an older package of the same name leaves behind that the new one does not have.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tile_tune::codegen {

/// Of the files (relative to the directory) that the manifest of `library` there lists, those which are not among
/// `files` and which only this library's packages can have written: its archive where it now comes as objects and
/// sources, a kernel that is gone. A manifest may come from anybody: whatever else it lists is not obsolete.
std::vector<std::filesystem::path> obsolete_files(const std::filesystem::path& directory, const std::string& library,
                                                  const std::vector<std::filesystem::path>& files);

}  // namespace tile_tune::codegen
