#include "cli/db_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "engine/records/workload.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/json.h"

namespace tile_tune::cli {

namespace {

/// Null where nothing was measured.
nlohmann::json figure(double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); }

/// Names, types and shapes, and what is computed: einsums differ in nothing else.
void add_program(nlohmann::json& json, const db::ProgramRow& row) {
  const auto program = ir::program_from_json(engine::json_of_text(row.canonical_json));
  if (!program) return;
  std::vector<std::string> statements;
  for (const auto& statement : program->statements) statements.push_back(ir::to_text(*program, statement));
  json["signature"] = ir::signature(*program);
  json["statements"] = statements;
}

}  // namespace

std::string program_text(const db::ProgramRow& program) {
  return program.frontend == "einsum" && program.name == "einsum" ? program.source : program.name;
}

std::string storage_text(const db::ProgramRow& program) {
  const auto constants = engine::constant_names(program);
  return constants.empty() ? program.layout : fmt::format("{}, constant {}", program.layout, fmt::join(constants, " "));
}

std::string speed_text(double ratio, double lo, double hi) {
  if (!(ratio > 0)) return "-";
  return lo > 0 ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio, lo, hi) : fmt::format("{:.2f}x", ratio);
}

nlohmann::json target_json(const db::TargetRow& target) {
  return {{"halide", target.text()}, {"cpu_model", target.machine.cpu_model}, {"threads", target.machine.threads}};
}

nlohmann::json best_json(const db::BestRow& best) {
  return {{"trial", best.trial_id},
          {"session", best.session},
          {"schedule_id", best.schedule_id},
          {"schedule", engine::json_of_text(best.schedule_json)},
          {"median_ns", best.median_ns},
          {"ratio", best.ratio},
          {"ratio_interval", {best.ratio_lo, best.ratio_hi}},
          {"peak_fraction", figure(best.peak_fraction)},
          {"tool", {{"tile_tune", best.tool.tile_tune}, {"halide", best.tool.halide}, {"llvm", best.tool.llvm}}}};
}

nlohmann::json list_row_json(const db::ListRow& row) {
  nlohmann::json json{{"id", row.id},
                      {"name", row.program.name},
                      {"sizes", engine::json_of_text(row.program.sizes_json)},
                      {"dtypes", row.program.dtypes},
                      {"layout", row.program.layout},
                      {"constants", engine::constant_names(row.program)},
                      {"content_hash", row.program.content_hash},
                      {"flops", row.program.flops},
                      {"bytes", row.program.bytes},
                      {"target", target_json(row.target)},
                      {"sessions", row.sessions},
                      {"trials", row.trials},
                      {"created_ms", row.created_ms}};
  add_program(json, row.program);
  if (row.best) json["best"] = best_json(*row.best);
  return json;
}

}  // namespace tile_tune::cli
