#include <tile_tune/engine.h>

#include <atomic>
#include <cmath>

#include "engine/records/planned.h"
#include "engine/sdk/given_program.h"
#include "engine/sized/sizes.h"
#include "engine/sized/tuning.h"
#include "engine/tune.h"

namespace tile_tune::engine {

namespace {

search::Strategy strategy_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::Genetic:
      return search::Strategy::Genetic;
    case Strategy::Random:
      return search::Strategy::Random;
    default:
      return search::Strategy::Model;
  }
}

void check_budget(const TuneOptions& options) {
  const auto refuse = [](const char* what) { edsl::raise({ErrorClass::Program, "bad-budget", what}); };
  if (options.seconds && !(std::isfinite(*options.seconds) && *options.seconds > 0))
    refuse("TuneOptions::seconds must be a positive number");
  if (options.trials && *options.trials < 1) refuse("TuneOptions::trials must be at least 1");
}

TuneResult tune_many(const edsl::Program& program, const BindingOptions& bindings,
                     const std::vector<codegen::EntrySize>& sizes, const TuningRequest& request, const Session& session,
                     const Watch& watch) {
  const LoadedProgram loaded{program.ir(), "edsl", program.json()};
  const auto workload = value(load_sized(loaded, bindings, sizes, session));
  const auto tuned = value(tune_sized(workload, value(session.target()), request, session, watch));
  TuneResult result;
  if (!tuned) return result;  // ended by its caller
  for (const auto& point : tuned->searched) {
    result.trials += point.trials;
    result.points.push_back({workload.sizes_at(point.at), point.trials, point.ratio});
  }
  result.seed = tuned->seed;
  result.database = tuned->database;
  return result;
}

}  // namespace

TuneResult tune(const edsl::Program& program, const TuneOptions& options) {
  const double began = now_seconds();
  check_budget(options);
  const auto session = session_of(options, options.deterministic);
  auto bindings = bindings_of(options);
  std::atomic<bool> stop = false;
  const auto progress = [&](const search::Progress& now) {
    if (!options.progress) return;
    if (!options.progress({now.trials, now_seconds() - began, now.best_ratio})) stop = true;
  };
  TuningRequest request{options.trials, options.seconds, options.seed, false};
  request.strategy = strategy_of(options.strategy);
  const auto many = value(take_entry_sizes(bindings.sizes));
  if (!many.empty()) return tune_many(program, bindings, many, request, session, {began, stop, progress});

  const auto given = given_program(program, bindings);
  const auto bound = value(ir::bind(given.stored, given.sizes));
  tell_all(program, bound, options, session);
  const auto workload = value(load(given.loaded, bound, given.sizes, session));
  const auto target = value(session.target());
  // With names for sizes, of a program that once had some.
  const bool had_names = program.ir().is_bound();
  const auto symbolic = had_names ? value(with_storage(program.symbolic(), bindings)) : given.stored;
  const Task task{workload, target, request,
                  small_variant_of(symbolic, had_names ? program.sizes() : given.sizes, workload, target)};
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
