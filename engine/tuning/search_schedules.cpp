#include "engine/tuning/search_schedules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/plan/factoring.h"
#include "search/space/small_variant.h"

namespace tile_tune::engine {

namespace {

// Seconds of a core that computing the reference may take, for each second of the budget.
constexpr double kReferenceShare = 1.0 / 6;

}  // namespace

search::SmallVariant small_variant_of(const ir::Program& program, const ir::Sizes& sizes, const Workload& workload,
                                      const codegen::Target& target) {
  const auto small = search::small_variant(program, sizes);
  if (!small) return {};
  std::map<size_t, search::Space> spaces;  // by the number of statements, of which steps have more
  spaces.try_emplace(small->statements.size(), *small, target);
  if (workload.written) {
    const auto path = path_of(workload.row);
    const auto steps = path ? plan::factored(*small, *path) : tl::unexpected(path.error());
    if (steps) spaces.try_emplace(steps->statements.size(), ir::canonicalize(*steps), target);
  }
  using Variant = std::optional<std::pair<ir::Program, codegen::Schedule>>;
  return [spaces](const ir::Program& large, const codegen::Schedule& schedule) -> Variant {
    const auto space = spaces.find(large.statements.size());
    if (space == spaces.end() || !space->second.has_loops_of(schedule)) return std::nullopt;
    return std::pair{space->second.program(), space->second.adapt(schedule).schedule};
  };
}

search::TuneReport unmeasured_default(const codegen::Schedule& schedule) {
  search::TuneReport report;
  report.stop_reason = search::StopReason::Time;
  report.finals_held = search::FinalsHeld::NoTime;
  report.default_schedule = schedule;
  return report;
}

Result<search::TuneReport> search_schedules(const Workload& workload, const search::Space& space,
                                            const search::SmallVariant& small_variant, const Knowledge& known,
                                            search::TrialSink& sink, const Watch& watch,
                                            const std::string& executable) {
  const Start& start = known.start;
  search::WorkerOptions worker_options;
  worker_options.command = {executable, "worker"};
  worker_options.target = space.target();
  worker_options.seed = start.seed;
  worker_options.stop = &watch.stop;
  worker_options.onlooker = watch.onlooker;
  worker_options.small_variant = small_variant;
  if (workload.written) worker_options.written = workload.written->program;
  // Candidates compile in 0.1 to 1 s; those that take ten times as long must not eat the budget: a
  // batch waits for its slowest build.
  worker_options.limits.build_seconds = 10;
  search::Deadline end, last = watch.last;
  if (const auto seconds = start.budget.seconds) {
    worker_options.limits.build_seconds = std::clamp(*seconds / 10, 3.0, worker_options.limits.build_seconds);
    worker_options.whole_seconds = std::min(kReferenceShare * *seconds, search::kWholeSeconds);
    end = {watch.began + *seconds};
    last = search::earlier(last, {end.at + overtime(*seconds)});
  }
  worker_options.deadline = last;
  auto workers = search::Workers::start(space.program(), space.default_schedule(), std::move(worker_options));
  if (!workers && workers.error().code == search::kOutOfTime) return unmeasured_default(space.default_schedule());
  if (!workers) return tl::unexpected(workers.error());
  const search::Moves moves = search::moves_of(space);
  search::TuneOptions options;
  options.seed = start.seed;
  options.strategy = start.strategy;
  options.budget = start.budget;
  // What was spent on getting ready counts.
  if (options.budget.seconds) {
    options.budget.whole = options.budget.seconds;
    options.budget.seconds = end.left();
    options.budget.overtime = last.at - end.at;
  }
  options.cores = static_cast<int>(codegen::available_cores().size());
  auto report = search::tune(moves, **workers, sink, known.priors, options, {now_seconds, watch.stop, watch.progress});
  if (report && (*workers)->trouble()) return tl::unexpected(*(*workers)->trouble());
  return report;
}

}  // namespace tile_tune::engine
