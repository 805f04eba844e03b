#include "cli/db_sized.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_rows.h"
#include "cli/fitted_table.h"
#include "engine/records/workload.h"

namespace tile_tune::cli {

nlohmann::json entry_row_json(const engine::ListedEntry& entry) {
  const db::DoneSession& row = entry.row;
  return {{"session", row.session.id},
          {"name", row.program.name},
          {"family", entry.sizes},
          {"kernels", entry.kernels},
          {"dtypes", row.program.dtypes},
          {"layout", row.program.layout},
          {"target", target_json(row.target)},
          {"tool", {{"tile_tune", row.tool.tile_tune}, {"halide", row.tool.halide}, {"llvm", row.tool.llvm}}},
          {"created_ms", row.session.created_ms}};
}

std::vector<std::string> entry_cells(const engine::ListedEntry& entry) {
  const db::DoneSession& row = entry.row;
  return {program_text(row.program),
          entry.sizes,
          std::to_string(entry.kernels),
          std::to_string(row.target.machine.threads),
          engine::machine_text(row.target),
          row.program.layout,
          row.program.dtypes,
          base::format_date(row.session.created_ms),
          row.tool.tile_tune};
}

std::string entries_text(const std::vector<engine::ListedEntry>& rows, size_t width) {
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
