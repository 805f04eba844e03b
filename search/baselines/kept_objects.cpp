#include "search/baselines/kept_objects.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/file_cache.h"
#include "base/files.h"

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;

// An object takes up to half a megabyte, and each instruction set has four.
constexpr uint64_t kCacheBytes = uint64_t{32} << 20;

base::FileCache cache() {
  const fs::path folder = base::user_cache();
  return base::FileCache(folder.empty() ? folder : folder / "baselines", kCacheBytes);
}

/// What tells a file from a later one of the same name; null: there is none.
nlohmann::json stamp_of(const std::string& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  const auto written = error ? fs::file_time_type() : fs::last_write_time(file, error);
  if (error) return nullptr;
  return {file, bytes, written.time_since_epoch().count()};
}

/// Of each file with an absolute name that a rule for make names as needed; nullopt where one cannot be found.
std::optional<nlohmann::json> stamps_of(const std::string& rule) {
  nlohmann::json stamps = nlohmann::json::array();
  std::istringstream words(rule);
  for (std::string word; words >> word;) {
    if (!fs::path(word).is_absolute()) continue;
    stamps.push_back(stamp_of(word));
    if (stamps.back().is_null()) return std::nullopt;
  }
  return stamps;
}

bool hold(const nlohmann::json& stamps) {
  if (!stamps.is_array()) return false;
  for (const auto& stamp : stamps)
    if (!stamp.is_array() || stamp.empty() || !stamp[0].is_string() || stamp_of(stamp[0]) != stamp) return false;
  return true;
}

}  // namespace

bool take_object(const std::string& name, const fs::path& object) {
  const auto kept = cache().find(name);
  if (!kept) return false;
  const size_t end = kept->find('\n');
  if (end == std::string::npos || !hold(nlohmann::json::parse(kept->substr(0, end), nullptr, false))) return false;
  return base::write_text(object, kept->substr(end + 1)).has_value();
}

void keep_object(const std::string& name, const fs::path& object, const fs::path& rule) {
  const auto bytes = base::read_bytes(object), needed = base::read_bytes(rule);
  if (!bytes || !needed) return;
  if (const auto stamps = stamps_of(*needed)) cache().keep(name, stamps->dump() + "\n" + *bytes);
}

}  // namespace tile_tune::search
