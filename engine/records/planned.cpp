#include "engine/records/planned.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "codegen/target/costs.h"
#include "engine/records/network_order.h"
#include "engine/records/network_steps.h"
#include "engine/records/open_database.h"
#include "engine/records/tuned_record.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::engine {

namespace {

namespace costs = codegen::costs;

/// By what is known for the session's target, if there is one. Deterministic sums have one order, whatever is known.
std::optional<Workload> ordered_by_session(const Workload& written, const ir::Program& bound, const Session& session) {
  if (!bound.free_order || session.settings.deterministic) return std::nullopt;
  const auto target = session.explained_target();
  if (!target) return std::nullopt;
  auto stack = readable_databases(session);
  auto ordered = in_best_order(written, bound, cost_of_steps(session.settings.deterministic), *target, stack);
  return ordered ? std::move(*ordered) : std::nullopt;
}

/// The sums of a program that remain as they are though steps would do with far fewer FLOP.
struct Remaining {
  const ir::Program& program;
  std::vector<plan::Unfactored> sums;

  const std::string& name(const plan::Unfactored& sum) const {
    const auto& statement = program.statements[static_cast<size_t>(sum.statement)];
    return program.tensors[static_cast<size_t>(statement.target)].name;
  }
};

Remaining remaining(const ir::Program& bound, const std::optional<Workload>& steps) {
  if (!steps) return {bound, plan::unfactored(bound, {})};
  const auto path = path_of(steps->row);
  return {steps->written->program, plan::unfactored(steps->written->program, path ? *path : plan::Path{})};
}

}  // namespace

plan::TrafficCost cost_of_steps(bool is_deterministic) {
  if (is_deterministic) return [](double flops, double) { return flops; };
  return [](double flops, double bytes) {
    return flops + (bytes > 2 * costs::kBytesBetweenSteps ? costs::kFlopsPerByte * bytes : 0);
  };
}

Workload planned_workload(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                          const Session& session) {
  auto written = make_workload(loaded, bound, sizes);
  if (auto ordered = ordered_by_session(written, bound, session)) written = std::move(*ordered);
  const auto path = plan::best_path(written.program, cost_of_steps(session.settings.deterministic));
  return workload_in_steps(std::move(written), path);
}

ir::Program planned_order(const ir::Program& bound, const Session& session) {
  if (!bound.free_order) return bound;
  auto ordered = ordered_by_session(make_workload({bound, "", ""}, bound, {}), bound, session);
  return ordered ? std::move(ordered->program) : bound;
}

std::vector<std::optional<double>> tuned_times(const ir::Program& bound, const Session& session) {
  std::vector<std::optional<double>> none(bound.statements.size());
  const auto target = session.explained_target();
  if (!target || none.size() < 2) return none;
  auto stack = readable_databases(session);
  const auto times = step_times(ir::canonicalize(bound), *target, stack);
  return times ? *times : none;
}

Workload workload_in_steps(Workload written, const plan::Path& path) {
  if (path.empty()) return written;
  db::ProgramRow row = written.row;
  row.layout += kStepsMark + plan::path_text(path);
  const auto steps = plan::factored(written.program, path);
  if (!steps) return written;
  auto program = ir::canonicalize(*steps);
  row.flops = ir::flops(program);
  Workload workload{std::move(program), std::move(row)};
  workload.written = std::make_shared<const Workload>(std::move(written));
  return workload;
}

std::optional<Workload> workload_in_steps(const LoadedProgram& loaded, const ir::Program& bound,
                                          const Session& session) {
  // Most programs have no such product, and the canonical form takes its time.
  if (plan::best_path(bound, cost_of_steps(session.settings.deterministic)).empty()) return std::nullopt;
  auto workload = planned_workload(loaded, bound, {}, session);
  return workload.written ? std::optional(std::move(workload)) : std::nullopt;
}

std::string steps_text(const Workload& workload) {
  if (!workload.written) return "";
  return fmt::format("{}, {} ({} as written)", steps_json(workload).at("order").get<std::string>(),
                     base::format_count(workload.row.flops, "FLOP"),
                     base::format_count(workload.written->row.flops, "FLOP"));
}

nlohmann::json steps_json(const Workload& workload) {
  if (!workload.written) return nullptr;
  const auto path = path_of(workload.row);
  return {{"order", path ? plan::path_words(workload.written->program, *path) : ""},
          {"flops_as_written", workload.written->row.flops}};
}

std::vector<std::string> unfactored_texts(const ir::Program& bound, const std::optional<Workload>& steps) {
  const auto rest = remaining(bound, steps);
  std::vector<std::string> texts;
  for (const auto& sum : rest.sums)
    texts.push_back(fmt::format("{}: {} ({}, in steps {})", rest.name(sum), sum.reason,
                                base::format_count(sum.flops, "FLOP"), base::format_count(sum.possible_flops, "FLOP")));
  return texts;
}

nlohmann::json unfactored_json(const ir::Program& bound, const std::optional<Workload>& steps) {
  const auto rest = remaining(bound, steps);
  auto sums = nlohmann::json::array();
  for (const auto& sum : rest.sums)
    sums.push_back({{"tensor", rest.name(sum)},
                    {"reason", sum.reason},
                    {"flops", sum.flops},
                    {"possible_flops", sum.possible_flops}});
  return sums;
}

void tell_of_steps(const Workload& workload, const Reporter& report) {
  if (workload.written) report.notice(fmt::format("factored: {}", steps_text(workload)));
}

Result<Workload> faster_form(const Workload& workload, const codegen::Target& target,
                             std::vector<db::Database>& stack) {
  if (!workload.written || stack.empty()) return workload;
  TILE_TUNE_TRY(as_written, tuned_record(*workload.written, target, stack));
  if (!as_written) return workload;
  TILE_TUNE_TRY(in_steps, tuned_record(workload, target, stack));
  const bool is_faster = in_steps && as_written->median_ns < costs::kClearlyFaster * in_steps->median_ns;
  return is_faster ? *workload.written : workload;
}

}  // namespace tile_tune::engine
