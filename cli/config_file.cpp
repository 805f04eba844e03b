#include "cli/config_file.h"

#include <algorithm>
#include <fstream>

namespace tile_tune::cli {

std::optional<Place> find_in_config(const std::string& path, const std::string& option) {
  // Options of a verb stand in its section, [tune], or with its name before them, tune.trials.
  const std::string name = option.substr(option.rfind('.') + 1);
  std::ifstream file(path);
  Place place;
  place.file = path;
  while (std::getline(file, place.source_line)) {
    ++place.line;
    const auto& line = place.source_line;
    const size_t begin = line.find_first_not_of(" \t\"'");
    if (begin == std::string::npos) continue;
    const size_t end = std::min(line.find_first_of(" \t\"'=:\r", begin), line.size());
    const std::string key = line.substr(begin, end - begin);
    if (key.substr(key.rfind('.') + 1) != name) continue;
    if (!place.source_line.empty() && place.source_line.back() == '\r') place.source_line.pop_back();
    place.column = static_cast<int>(begin) + 1;
    place.length = static_cast<int>(key.size());
    return place;
  }
  return std::nullopt;
}

}  // namespace tile_tune::cli
