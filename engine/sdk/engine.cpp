#include <atomic>
#include <cmath>
#include <tile_tune/engine.h>

#include "engine/handles/handle.h"
#include "engine/records/planned.h"
#include "engine/run/run_workload.h"
#include "engine/caller/arrays.h"
#include "engine/caller/installation.h"
#include "engine/caller/messages.h"
#include "engine/tune.h"
#include "frontend/edsl/errors.h"
#include "frontend/ir/index_checks.h"
#include "frontend/plan/program_warnings.h"

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

/// What the program and its sizes give rise to.
void tell_all(const edsl::Program& program, const ir::Program& bound, const Options& options, const Session& session) {
  for (const auto& warning : program.warnings()) tell(warning, options);
  // Of a program that has its numbers they were told with its other warnings.
  if (!program.ir().is_bound()) value(session.report.program_warnings(plan::program_warnings(bound)));
}

/// Whether a handle computes the program: not on devices, and not where outputs have to stay as they were if an index
/// turns out to be outside its tensor.
bool runs_here(const ir::Program& bound, const Session& session) {
  return value(session.target()).device == codegen::Device::Cpu && ir::index_checks(bound).empty();
}

Schedule call_kernel(const edsl::Program& program, const ir::Program& bound, const Arrays& arrays,
                     const RunOptions& options) {
  CompileOptions compiling;
  static_cast<Options&>(compiling) = options;
  compiling.schedule = options.schedule;
  const auto raise_error = [](const Error& error) {
    raise({ErrorClass::Failure, error.code, error.message, {}, error.note});
  };
  std::vector<Array> inputs, outputs;
  for (const int number : bound.inputs) inputs.push_back(arrays.at(bound.tensors[static_cast<size_t>(number)].name));
  for (const int number : bound.outputs) outputs.push_back(arrays.at(bound.tensors[static_cast<size_t>(number)].name));
  const auto kernel = make_handle(program, compiling);
  if (!kernel) raise_error(kernel.error());
  if (const auto called = (*kernel)(inputs, outputs); !called) raise_error(called.error());
  return kernel->schedule();
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
  const auto bound = value(ir::bind(source.program, sizes));
  value(check_outputs(bound, arrays));
  const EngineChoice engine{engine_name(options.schedule), ""};
  const bool is_here = options.schedule != Schedule::Reference && runs_here(bound, session);
  if (!is_here) tell_all(program, bound, options, session);
  const auto workload = planned_workload(source, bound, sizes, session);
  value(check_runnable(workload.program, engine));
  if (is_here) return call_kernel(program, bound, arrays, options);
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
  const auto bound = value(ir::bind(source.program, {}));
  tell_all(program, bound, options, session);
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
