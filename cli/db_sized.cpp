#include "cli/db_sized.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/units.h"
#include "cli/db_rows.h"
#include "cli/fitted_table.h"
#include "db/identity.h"
#include "engine/records/records.h"
#include "engine/sized/sizes.h"

namespace tile_tune::cli {

namespace {

/// "N=1..512", as on a command line; the beginning of a text that says no such thing.
std::string range_text(const std::string& options_json) try {
  std::vector<codegen::EntrySize> sizes;
  const auto options = engine::json_of_text(options_json);
  for (const auto& one : options.at("sizes"))
    sizes.push_back(codegen::EntrySize{one.at("name"), one.at("first"), one.at("last"), one.at("listed")});
  return engine::entry_sizes_text(sizes);
} catch (const nlohmann::json::exception&) {
  return engine::sizes_text(options_json);
}

size_t count_kernels(const std::string& options_json) {
  const auto options = engine::json_of_text(options_json);
  return options.is_object() && options.contains("members") ? options["members"].size() : 0;
}

}  // namespace

Result<std::vector<db::DoneSession>> stored_entries(db::Database& database) {
  TILE_TUNE_TRY(rows, database.done_sessions(db::kSizedStrategy));
  std::set<std::vector<std::string>> seen;
  std::erase_if(rows, [&](const db::DoneSession& row) {
    return !seen.insert({db::workload_id(row.program), db::target_id(row.target), db::tool_id(row.tool),
                         range_text(row.session.options_json)})
                .second;
  });
  return rows;
}

nlohmann::json entry_row_json(const db::DoneSession& row) {
  return {{"session", row.session.id},
          {"name", row.program.name},
          {"family", range_text(row.session.options_json)},
          {"kernels", count_kernels(row.session.options_json)},
          {"dtypes", row.program.dtypes},
          {"layout", row.program.layout},
          {"target", target_json(row.target)},
          {"tool", {{"tile_tune", row.tool.tile_tune}, {"halide", row.tool.halide}, {"llvm", row.tool.llvm}}},
          {"created_ms", row.session.created_ms}};
}

std::vector<std::string> entry_cells(const db::DoneSession& row) {
  return {program_text(row.program),
          range_text(row.session.options_json),
          std::to_string(count_kernels(row.session.options_json)),
          std::to_string(row.target.machine.threads),
          engine::machine_text(row.target),
          row.program.layout,
          row.program.dtypes,
          base::format_date(row.session.created_ms),
          row.tool.tile_tune};
}

std::string entries_text(const std::vector<db::DoneSession>& rows, size_t width) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) cells.push_back(entry_cells(row));
  return "\n" + fitted_text(fit_table({{{"one entry for"}, Keep::Cut},
                                       {{"sizes"}, Keep::Cut},
                                       {{"kernels", Align::Right}, Keep::Whole},
                                       {{"threads", Align::Right}},
                                       {{"target"}},
                                       {{"layout"}},
                                       {{"types"}},
                                       {{"tuned"}},
                                       {{"made by"}}},
                                      std::move(cells), width));
}

}  // namespace tile_tune::cli
