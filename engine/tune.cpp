#include "engine/tune.h"

#include <utility>

#include "engine/packages/package_targets.h"
#include "engine/packages/packaging.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/records/quarantine.h"
#include "engine/records/schedule_choice.h"
#include "engine/session/plain_onlooker.h"
#include "engine/tuning/forms.h"
#include "engine/tuning/steps_first.h"

namespace tile_tune::engine {

// Load.
Result<Workload> load(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                      const Session& session) {
  TILE_TUNE_CHECK(check_size(bound, Use::Measure));
  Workload workload = planned_workload(loaded, bound, sizes, session);
  tell_of_steps(workload, session.report);
  TILE_TUNE_CHECK(check_memory(workload.program, Use::Measure));
  return workload;
}

// Know, search, keep.
Result<Tuned> tune(const Task& task, const Session& session, const Watch& watch) {
  const auto tune_whole = [&](const Workload& form, const search::SmallVariant& small_variant,
                              const TuningRequest& request, const Watch& own) -> Result<Tuned> {
    const search::Space space(form.program, task.target, task.dimensions);
    TILE_TUNE_TRY(known, know(form, space, request, session));
    TuningStore store(known.databases.front(), known.key, {known.start.session, known.start.seed, known.start.elapsed},
                      quarantine_folder(known.path), [&own] { return now_seconds() - own.began; });
    auto found = search_schedules(form, space, small_variant, known, store, own, session.executable);
    return keep(std::move(found), form, known, store, own.stop, session.report);
  };
  const auto tune_step = [&](const NetworkStep& step, const TuningRequest& request, const Watch& own) -> Result<void> {
    const auto small = small_variant_of(step.loaded.program, step.loaded.sizes, step.workload, task.target);
    TILE_TUNE_CHECK(tune_whole(step.workload, small, request, own));
    return {};
  };
  const auto tune_form = [&](const Workload& form, const TuningRequest& request, Watch own) -> Result<Tuned> {
    const double began = own.began;
    TILE_TUNE_TRY(rest, tune_steps(form, task.target, request, own, session, tune_step));
    auto tuned = tune_whole(form, task.small_variant, rest, own);
    if (tuned) tuned->steps_seconds = own.began - began;
    return tuned;
  };
  return tune_forms(task.workload, task.request, watch, session.report, tune_form);
}

// Choose, package: through the database, so that `build` later writes the very same package.
Result<std::vector<std::string>> package(const Workload& workload, const std::string& directory, const Session& session,
                                         const std::atomic<bool>* stop) {
  TILE_TUNE_TRY(targets, package_targets(session));
  TILE_TUNE_TRY(databases, open_stack(session));
  TILE_TUNE_TRY(form, faster_form(workload, targets.back(), databases));
  const auto choose = [&](const codegen::Target& target) { return stored_choice(form, target, databases, session); };
  const std::string& name = workload.program.name;
  TILE_TUNE_TRY(kernel, kernel_for(form, name, targets, choose));
  return package_in_child({kernel}, {name, directory, targets.back(), tool_row().tile_tune}, session.executable,
                          plain_onlooker(session.report), stop);
}

}  // namespace tile_tune::engine
