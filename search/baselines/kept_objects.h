// Object files from one process to the next, as long as the headers that they were made from stay as they are.
#pragma once

#include <filesystem>
#include <string>

namespace tile_tune::search {

/// Writes what the user's cache has under `name` to `object`. False: it has nothing, or a header is another by now.
bool take_object(const std::string& name, const std::filesystem::path& object);

/// `rule`: the file that GCC's -MD wrote, which names the headers. What it cannot keep, it does not.
void keep_object(const std::string& name, const std::filesystem::path& object, const std::filesystem::path& rule);

}  // namespace tile_tune::search
