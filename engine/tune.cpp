#include "engine/tune.h"

#include <fmt/format.h>

#include <utility>

#include "engine/packages/package_targets.h"
#include "engine/packages/packaging.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/records/quarantine.h"
#include "engine/records/schedule_choice.h"
#include "engine/records/tuning_store.h"
#include "engine/session/plain_onlooker.h"

namespace tile_tune::engine {

Result<Workload> load(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                      const Session& session) {
  TILE_TUNE_CHECK(check_size(bound, Use::Measure));
  Workload workload = planned_workload(loaded, bound, sizes, session);
  tell_of_steps(workload, session.report);
  TILE_TUNE_CHECK(check_memory(workload.program, Use::Measure));
  return workload;
}

namespace {

/// What was found, and which of it is the best known from now on.
Result<Tuned> keep(Result<search::TuneReport> found, const Workload& form, const Knowledge& known, TuningStore& store,
                   bool was_stopped, const Reporter& report) {
  if (const auto& fault = store.bundle_fault())
    report.warn(fault->code, fmt::format("a failure is stored without its bundle: {}", fault->message));
  if (!found) {
    TILE_TUNE_CHECK(store.finish("aborted", std::nullopt));
    return tl::unexpected(found.error());
  }
  TILE_TUNE_CHECK(store.finish(was_stopped && !found->winner ? "aborted" : "done", found->winner));
  if (found->stop_reason == search::StopReason::DefaultFailed)
    return fail(
        ErrorClass::Verification, "default-failed",
        fmt::format("not even the default schedule of {} works here: {} ({})", form.row.name,
                    found->default_measurement.reason, search::outcome_name(found->default_measurement.outcome)));
  return Tuned{std::move(*found), known.start.seed, store.session(), known.path.string(), store.bundles()};
}

Result<Tuned> tune_form(const Workload& form, const Task& task, const TuningRequest& request, const Session& session,
                        const Watch& watch) {
  const search::Space space(form.program, task.target);
  TILE_TUNE_TRY(known, know(form, space, request, session));
  TuningStore store(known.databases.front(), known.key, {known.start.session, known.start.seed, known.start.elapsed},
                    quarantine_folder(known.path), [&watch] { return now_seconds() - watch.began; });
  auto found = search_schedules(form, space, task.small_variant, known, store, watch, session.executable);
  return keep(std::move(found), form, known, store, watch.stop, session.report);
}

}  // namespace

Result<Tuned> tune(const Task& task, const Session& session, const Watch& watch) {
  const Shares shares = shares_of(task.workload, task.request);
  const double seconds = wanted_seconds(task.request);
  const search::Deadline end{watch.began + seconds}, last = search::earlier(watch.last, {end.at + overtime(seconds)});
  Watch own{watch.began, watch.stop, watch.progress, watch.onlooker, last};
  TILE_TUNE_TRY(tuned, tune_form(task.workload, task, shares.first, session, own));
  if (!shares.written || watch.stop) return tuned;
  // What the first search took beyond its share is not there any more.
  const auto request = within(*shares.written, end);
  if (!request) return tuned;
  own.began = now_seconds();
  const auto written = tune_form(*task.workload.written, task, *request, session, own);
  if (!written)
    session.report.warn(written.error().code,
                        fmt::format("the program as written was not searched: {}", written.error().message));
  else if (written->report.winner)
    tuned.written_ns = written->report.winner->measurement.median_ns;
  return tuned;
}

Result<std::vector<std::string>> package(const Workload& workload, const std::string& directory, const Session& session,
                                         const std::atomic<bool>* stop) {
  // Through the database, so that `build` later writes the very same package.
  TILE_TUNE_TRY(targets, package_targets(session));
  TILE_TUNE_TRY(databases, open_stack(session));
  TILE_TUNE_TRY(form, faster_form(workload, targets.back(), databases));
  const auto choose = [&](const codegen::Target& target) { return stored_choice(form, target, databases, session); };
  const std::string& name = workload.program.name;
  TILE_TUNE_TRY(kernel, kernel_for(form, name, targets, choose));
  TILE_TUNE_TRY(files, package_in_child({kernel}, {name, directory, targets.back(), tool_row().tile_tune},
                                        session.executable, plain_onlooker(session.report), stop));
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back((std::filesystem::path(directory) / file).string());
  return paths;
}

}  // namespace tile_tune::engine
