#include "engine/records/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "search/judge/worker_message.h"

namespace tile_tune::engine {

namespace {

/// "f32,f32->f32" in signature order.
std::string dtypes_text(const ir::Program& program) {
  const auto list = [&](const std::vector<int>& numbers) {
    std::vector<std::string_view> names;
    for (const int number : numbers) names.push_back(dtype_name(program.tensors[static_cast<size_t>(number)].type));
    return fmt::format("{}", fmt::join(names, ","));
  };
  return list(program.inputs) + "->" + list(program.outputs);
}

/// In the order in which the program names them.
std::string sizes_json(const ir::Program& program, const ir::Sizes& sizes) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& name : program.sizes)
    if (const auto found = sizes.find(name); found != sizes.end()) json[name] = found->second;
  return json.dump();
}

/// A figure that was not measured is 0 here and NaN, no number, in a record: 0 would be one.
double stored(double figure) { return figure > 0 ? figure : std::numeric_limits<double>::quiet_NaN(); }
double measured_or_0(double figure) { return figure > 0 ? figure : 0; }

/// Records travel: of a statement's place they keep the file's name, not the folder it was read from.
ir::Program without_folders(ir::Program program) {
  for (auto& statement : program.statements)
    if (statement.place) statement.place->file = std::filesystem::path(statement.place->file).filename().string();
  return program;
}

}  // namespace

Workload make_workload(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes) {
  Workload workload{ir::canonicalize(bound), {}};
  workload.program.free_order = false;  // records are of this order
  const ir::Program& program = workload.program;
  workload.row = {.content_hash = ir::content_hash(program),
                  .family_hash = ir::family_hash(loaded.program),
                  .name = program.name,
                  .frontend = loaded.frontend,
                  .source = loaded.source,
                  .canonical_json = base::json_text(ir::to_json(without_folders(program))),
                  .sizes_json = sizes_json(loaded.program, sizes),
                  .dtypes = dtypes_text(program),
                  .layout = ir::layout_text(program),
                  .flops = ir::flops(program),
                  .bytes = ir::traffic(program).total()};
  return workload;
}

db::TargetRow target_row(const codegen::Target& target) { return {.machine = target}; }

Result<codegen::Target> target_of(const db::TargetRow& row) {
  constexpr int kLeastVector = 16;  // bytes: schedules divide by the lanes of the widest type
  const bool is_whole = !row.former_text && !row.former_facts;
  if (is_whole && row.machine.vector_bytes >= kLeastVector && row.machine.vector_registers > 0) return row.machine;
  return failure("bad-record", fmt::format("the stored target {} does not say what its machine is like", row.text()));
}

db::ToolRow tool_row() {
  return {TILE_TUNE_VERSION, codegen::halide_version(), codegen::llvm_version(), codegen::Schedule::kVersion,
          search::kProtocolVersion};
}

db::TrialRow trial_row(const search::Trial& trial) {
  const auto& measured = trial.measurement;
  return {.sequence = trial.sequence,
          .generation = trial.generation,
          .origin = trial.origin,
          .parents = trial.parents,
          .schedule_id = codegen::schedule_id(trial.schedule),
          .schedule_json = codegen::to_json(trial.schedule).dump(),
          .outcome = search::outcome_name(measured.outcome),
          .reason = measured.reason,
          .code_hash = measured.code_hash,
          .compile_ms = measured.compile_ms,
          .verify_error = measured.verify_error,
          .samples_ns = measured.samples_ns,
          .median_ns = stored(measured.median_ns),
          .ratio = stored(measured.ratio),
          .ratio_lo = stored(measured.ratio_lo),
          .ratio_hi = stored(measured.ratio_hi),
          .peak_fraction = stored(measured.peak_fraction),
          .peak_fraction_lo = stored(measured.peak_fraction_lo),
          .peak_fraction_hi = stored(measured.peak_fraction_hi),
          .disturbed = measured.disturbed};
}

Result<search::Trial> trial_from_row(const db::TrialRow& row) {
  const auto outcome = search::parse_outcome(row.outcome);
  if (!outcome) return failure("bad-record", fmt::format("a stored trial has the unknown outcome '{}'", row.outcome));
  const auto json = nlohmann::json::parse(row.schedule_json, nullptr, false);
  TILE_TUNE_TRY(schedule, codegen::schedule_from_json(json));
  search::Trial trial{row.sequence, row.generation, row.origin, row.parents, std::move(schedule), {}};
  auto& measured = trial.measurement;
  measured.outcome = *outcome;
  measured.reason = row.reason;
  measured.code_hash = row.code_hash;
  measured.compile_ms = row.compile_ms;
  measured.verify_error = row.verify_error;
  measured.samples_ns = row.samples_ns;
  measured.median_ns = measured_or_0(row.median_ns);
  measured.ratio = measured_or_0(row.ratio);
  measured.ratio_lo = measured_or_0(row.ratio_lo);
  measured.ratio_hi = measured_or_0(row.ratio_hi);
  measured.peak_fraction = measured_or_0(row.peak_fraction);
  measured.peak_fraction_lo = measured_or_0(row.peak_fraction_lo);
  measured.peak_fraction_hi = measured_or_0(row.peak_fraction_hi);
  measured.disturbed = row.disturbed;
  return trial;
}

std::vector<std::string> constant_names(const db::ProgramRow& row) {
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(row.canonical_json, nullptr, false);
  const auto program = ir::program_from_json(json);
  if (!program) return names;
  for (const auto& tensor : program->tensors)
    if (tensor.constant) names.push_back(tensor.name);
  return names;
}

std::optional<nlohmann::ordered_json> json_of_record(const std::string& text) {
  constexpr size_t kLongest = size_t{16} << 20;
  constexpr int kDeepest = 512;
  if (text.size() > kLongest) return std::nullopt;
  bool too_deep = false;
  const auto is_shallow = [&](int depth, auto, auto&) {
    too_deep |= depth > kDeepest;
    return !too_deep;
  };
  auto json = nlohmann::ordered_json::parse(text, is_shallow, false);
  if (too_deep || json.is_discarded()) return std::nullopt;
  return json;
}

nlohmann::json json_of_text(const std::string& text) {
  const auto json = json_of_record(text);
  return json ? nlohmann::json(*json) : nlohmann::json(text);
}

Result<ir::Program> program_of(const db::ProgramRow& row) {
  TILE_TUNE_TRY(program, ir::program_from_json(nlohmann::json::parse(row.canonical_json, nullptr, false)));
  if (!program.is_bound()) return failure("bad-record", "the stored program has sizes that are no numbers");
  if (ir::content_hash(program) != row.content_hash)
    return failure("bad-record", "the stored program is not what its hash says");
  TILE_TUNE_TRY(path, path_of(row));
  if (path.empty()) return program;
  TILE_TUNE_TRY(steps, plan::factored(program, path));
  return ir::canonicalize(steps);
}

std::string storage_of_layout(const std::string& layout) { return layout.substr(0, layout.find(kStepsMark)); }

Result<plan::Path> path_of(const db::ProgramRow& row) {
  const size_t mark = row.layout.find(kStepsMark);
  if (mark == std::string::npos) return plan::Path();
  return plan::parse_path(std::string_view(row.layout).substr(mark + std::string_view(kStepsMark).size()));
}

std::string machine_text(const db::TargetRow& target) {
  codegen::Target machine = target.machine;
  machine.deterministic = false;
  const std::string name = !machine.cpu_model.empty() ? machine.cpu_model
                           : target.former_text       ? *target.former_text
                                                      : machine.text();
  return target.machine.deterministic ? name + ", deterministic" : name;
}

std::string title_text(std::vector<std::string> parts, const std::string& layout) {
  const auto storage = storage_of_layout(layout);
  if (storage != "row") parts.push_back(storage);
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "  "));
}

std::string sizes_text(const std::string& sizes_json) {
  constexpr size_t kShown = 80;
  const auto json = json_of_record(sizes_json);
  if (!json || !json->is_object()) return base::cut_to_width(sizes_json, kShown);
  std::vector<std::string> parts;
  for (const auto& [name, value] : json->items()) parts.push_back(name + "=" + value.dump());
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace tile_tune::engine
