#include <atomic>
#include <cmath>
#include <tile_tune/engine.h>

#include "engine/programs/bindings.h"
#include "engine/records/planned.h"
#include "engine/run/run_workload.h"
#include "engine/sdk/arrays.h"
#include "engine/sdk/installation.h"
#include "engine/sdk/messages.h"
#include "engine/tune.h"
#include "frontend/edsl/errors.h"

namespace tile_tune::engine {

namespace {

[[noreturn]] void raise(const Diagnostic& diagnostic) { edsl::raise(diagnostic); }

template <typename T>
T value(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Session session_of(const Options& options) {
  Session session{.settings = {.target = options.target, .threads = options.threads}, .report = reporter_of(options)};
  if (!options.database.empty()) session.settings.databases = {options.database};
  value(session.check_settings());
  session.executable = value(tool(options.executable));
  return session;
}

/// The program with its sizes; what it and they give rise to is told.
ir::Program bind_and_tell(const edsl::Program& program, const ir::Program& symbolic, const ir::Sizes& sizes,
                          const Options& options, const Session& session) {
  for (const auto& warning : program.warnings()) tell(warning, options);
  // Of a program that has its numbers they were told with its other warnings.
  if (program.ir().is_bound()) return value(ir::bind(symbolic, sizes));
  return value(bind_and_warn(symbolic, sizes, session.report));
}

LoadedProgram loaded(const edsl::Program& program) { return {program.ir(), "edsl", program.json()}; }

const char* engine_name(Schedule schedule) {
  switch (schedule) {
    case Schedule::Default:
      return "default";
    case Schedule::Reference:
      return "reference";
    default:
      return "tuned";
  }
}

}  // namespace

Schedule run(const edsl::Program& program, const Arrays& arrays, const RunOptions& options) {
  const auto session = session_of(options);
  auto source = loaded(program);
  const auto sizes = value(infer_sizes(source.program, value(describe_arrays(source.program, arrays)), {}));
  source.program = with_storage_of(program.ir_at(sizes), arrays);
  const auto bound = bind_and_tell(program, source.program, sizes, options, session);
  value(check_outputs(bound, arrays));
  const auto workload = planned_workload(source, bound, sizes, session);
  const EngineChoice engine{engine_name(options.schedule), ""};
  value(check_runnable(workload.program, engine));
  const auto executed = value(run_workload(workload, read_arrays(bound, arrays), engine, session));
  for (size_t i = 0; i < executed.outputs.size(); ++i) {
    const auto& tensor = workload.program.tensors[static_cast<size_t>(workload.program.outputs[i])];
    write_array(executed.outputs[i], arrays.at(tensor.name));
  }
  if (executed.provenance == "reference") return Schedule::Reference;
  return executed.provenance == "tuned" ? Schedule::Tuned : Schedule::Default;
}

TuneResult tune(const edsl::Program& program, const TuneOptions& options) {
  const double began = now_seconds();
  if (options.seconds && !(std::isfinite(*options.seconds) && *options.seconds > 0))
    raise(fail(ErrorClass::Program, "bad-budget", "TuneOptions::seconds must be a positive number").value());
  if (options.trials && *options.trials < 1)
    raise(fail(ErrorClass::Program, "bad-budget", "TuneOptions::trials must be at least 1").value());
  const auto session = session_of(options);
  const auto source = loaded(program);
  const auto bound = bind_and_tell(program, source.program, {}, options, session);
  const auto workload = value(load(source, bound, {}, session));
  const auto target = value(session.target());
  std::atomic<bool> stop = false;
  const auto progress = [&](const search::Progress& now) {
    if (!options.progress) return;
    if (!options.progress({now.trials, now_seconds() - began, now.best_ratio})) stop = true;
  };
  const Task task{workload,
                  target,
                  {options.trials, options.seconds, options.seed, false},
                  small_variant_of(program.symbolic(), program.sizes(), workload, target)};
  const auto tuned = value(tune(task, session, {began, stop, progress}));
  TuneResult result;
  result.trials = tuned.report.trials;
  result.default_ns = tuned.report.default_measurement.median_ns;
  result.tuned_ns = tuned.report.winner ? tuned.report.winner->measurement.median_ns : 0;
  result.ratio = tuned.report.winner ? tuned.report.winner->measurement.ratio : tuned.report.incumbent_ratio;
  result.seed = tuned.seed;
  result.database = tuned.database;
  return result;
}

}  // namespace tile_tune::engine
