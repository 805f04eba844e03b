#include "engine/sized/listed_entries.h"

#include <nlohmann/json.hpp>
#include <set>

#include "db/identity.h"
#include "engine/records/workload.h"
#include "engine/sized/sizes.h"

namespace tile_tune::engine {

namespace {

/// The beginning of a text that says no sizes.
std::string range_text(const std::string& options_json) try {
  std::vector<codegen::EntrySize> sizes;
  const auto options = json_of_text(options_json);
  for (const auto& one : options.at("sizes"))
    sizes.push_back(codegen::EntrySize{one.at("name"), one.at("first"), one.at("last"), one.at("listed")});
  return entry_sizes_text(sizes);
} catch (const nlohmann::json::exception&) {
  return sizes_text(options_json);
}

size_t count_kernels(const std::string& options_json) {
  const auto options = json_of_text(options_json);
  return options.is_object() && options.contains("members") ? options["members"].size() : 0;
}

}  // namespace

Result<std::vector<ListedEntry>> listed_entries(db::Database& database) {
  TILE_TUNE_TRY(rows, database.done_sessions(db::kSizedStrategy));
  std::set<std::vector<std::string>> seen;
  std::vector<ListedEntry> entries;
  for (auto& row : rows) {
    std::string sizes = range_text(row.session.options_json);
    const size_t kernels = count_kernels(row.session.options_json);
    const bool is_latest =
        seen.insert({db::workload_id(row.program), db::target_id(row.target), db::tool_id(row.tool), sizes}).second;
    if (is_latest) entries.push_back({std::move(row), std::move(sizes), kernels});
  }
  return entries;
}

}  // namespace tile_tune::engine
