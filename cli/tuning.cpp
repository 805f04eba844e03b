#include "cli/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/quarantine.h"
#include "cli/transfer.h"
#include "cli/tuning_store.h"
#include "codegen/lower/compile.h"
#include "frontend/ir/canonical.h"
#include "search/measure/workers.h"
#include "search/space/small_variant.h"
#include "search/space/space.h"

namespace tile_tune::cli {

namespace {

constexpr double kDefaultSeconds = 60;  // rulings 17

// Seconds of a core that computing the reference may take, for each second of the budget.
constexpr double kReferenceShare = 1.0 / 6;

/// A session to work in: a new one, or one that was left unfinished.
struct Start {
  std::string session;
  uint64_t seed = 0;
  search::Strategy strategy = search::Strategy::Genetic;
  search::Budget budget;
  double elapsed = 0;  // by earlier invocations
  std::vector<search::Trial> done;
};

nlohmann::json budget_json(const search::Budget& budget) {
  nlohmann::json json = nlohmann::json::object();
  if (budget.trials) json["trials"] = *budget.trials;
  if (budget.seconds) json["seconds"] = *budget.seconds;
  return json;
}

/// 32 bits, so that it is easy to type again.
uint64_t random_seed() { return std::random_device()(); }

/// nullopt where the stored object has no such number: a record from elsewhere may hold anything.
std::optional<double> number_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// What the stored budget leaves, unless the command line names one of its own or it cannot be read.
search::Budget remaining_budget(const TuningRequest& request, const db::UnfinishedSession& session, int trials_done) {
  if (request.trials || request.seconds) return wanted_budget(request);
  const auto json = nlohmann::json::parse(session.session.budget_json, nullptr, false);
  const auto trials = number_of(json, "trials"), seconds = number_of(json, "seconds");
  if (!trials && !seconds) return wanted_budget(request);
  constexpr double kMostTrials = std::numeric_limits<int>::max();
  search::Budget budget;
  if (trials) budget.trials = static_cast<int>(std::clamp(*trials - trials_done, 0.0, kMostTrials));
  if (seconds) budget.seconds = std::max(0.0, *seconds - std::max(0.0, session.elapsed_s));
  return budget;
}

Result<Start> begin(db::Database& database, const TuningKey& key, const TuningRequest& request) {
  Start start;
  start.seed = request.seed.value_or(random_seed());
  start.strategy = request.strategy;
  start.budget = wanted_budget(request);
  db::SessionRow row;
  row.seed = start.seed;
  row.strategy = search::strategy_name(start.strategy);
  row.options_json = nlohmann::json::object().dump();
  row.budget_json = budget_json(start.budget).dump();
  TILE_TUNE_TRY(session, database.begin_session(key.program, key.target, key.tool, row));
  start.session = session;
  return start;
}

/// nullopt if the session has trials that this program cannot have: the search takes what it replays on trust, and a
/// record from elsewhere may name any schedule.
Result<std::optional<Start>> resume(db::Database& database, const TuningKey& key, const TuningRequest& request,
                                    const search::Space& space, const db::UnfinishedSession& unfinished) {
  Start start;
  start.session = unfinished.session.id;
  start.seed = unfinished.session.seed;
  // Sessions of version 0.1 are called "evolution", which is what is called genetic now.
  start.strategy = search::parse_strategy(unfinished.session.strategy).value_or(search::Strategy::Genetic);
  start.elapsed = unfinished.elapsed_s;
  TILE_TUNE_TRY(stored, database.trials_of(key.program, key.target, key.tool, start.session));
  int searched = 0;
  for (const auto& one : stored) {
    auto trial = trial_from_row(one.trial);
    if (!trial || !codegen::check_for(space.target(), space.program(), trial->schedule)) return std::nullopt;
    searched += trial->origin != "final";
    start.done.push_back(std::move(*trial));
  }
  TILE_TUNE_CHECK(database.resume_session(start.session));
  start.budget = remaining_budget(request, unfinished, searched);
  return start;
}

Result<Start> start_session(db::Database& database, const TuningKey& key, const TuningRequest& request,
                            const search::Space& space, const Reporter& report) {
  if (!request.resume) return begin(database, key, request);
  TILE_TUNE_TRY(unfinished, database.unfinished_session(key.program, key.target, key.tool));
  if (unfinished) {
    TILE_TUNE_TRY(resumed, resume(database, key, request, space, *unfinished));
    if (resumed) return std::move(*resumed);
    report.warn("bad-record", "the unfinished session has trials that do not fit this program: a new one begins");
    return begin(database, key, request);
  }
  if (!request.may_begin) report.notice("there is no unfinished session of this program: a new one begins");
  return begin(database, key, request);
}

/// The first is written, the others are read: who shares one may have a newer tile-tune already.
Result<std::vector<db::Database>> open_databases(const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  std::vector<db::Database> databases;
  for (const auto& path : paths) {
    auto database = db::Database::open(path, databases.empty() ? db::Mode::ReadWrite : db::Mode::ReadOnly);
    if (!database && database.error().code == "database-newer" && !databases.empty()) {
      session.report.warn(database.error().code, database.error().message, database.error().note);
      continue;
    }
    if (!database) return tl::unexpected(std::move(database.error()));
    databases.push_back(std::move(*database));
  }
  return databases;
}

Result<search::TuneReport> search_schedules(const search::Space& space, const Workload& workload,
                                            search::SmallVariant small_variant, TuningStore& store,
                                            search::Priors priors, const Start& start, const Watch& watch,
                                            const std::string& executable) {
  search::WorkerOptions worker_options;
  worker_options.command = {executable, "worker"};
  worker_options.target = space.target();
  worker_options.seed = start.seed;
  worker_options.stop = &watch.stop;
  worker_options.onlooker = watch.onlooker;
  worker_options.small_variant = std::move(small_variant);
  if (workload.written) worker_options.written = workload.written->program;
  // Candidates compile in 0.1 to 1 s (design/search.md); those that take ten times as long must not eat the budget: a
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
  priors.unfinished = start.done;
  auto report = search::tune(moves, **workers, store, priors, options, {now_seconds, watch.stop, watch.progress});
  if (report && (*workers)->trouble()) return tl::unexpected(*(*workers)->trouble());
  return report;
}

}  // namespace

search::Budget wanted_budget(const TuningRequest& request) {
  if (request.trials || request.seconds) return {request.trials, request.seconds};
  return {std::nullopt, kDefaultSeconds};
}

double overtime(double seconds) {
  constexpr double kShort = 10, kOfShort = 8, kLeast = 3, kShare = 0.1;
  // Ending workers, storing and telling take their part of it: a second or two where others keep the CPUs busy.
  constexpr double kForTheEnd = 2.0 / 3, kMostForTheEnd = 2.5;
  const double allowed = seconds < kShort ? kOfShort : std::max(kLeast, kShare * seconds);
  return allowed - std::min(kForTheEnd * allowed, kMostForTheEnd);
}

search::TuneReport unmeasured_default(const codegen::Schedule& schedule) {
  search::TuneReport report;
  report.stop_reason = search::StopReason::Time;
  report.finals_held = search::FinalsHeld::NoTime;
  report.default_schedule = schedule;
  return report;
}

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
    if (space == spaces.end()) return std::nullopt;
    return std::pair{space->second.program(), space->second.adapt(schedule).schedule};
  };
}

Result<bool> is_finished(const Workload& workload, const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  const TuningKey key{workload.row, target_row(target), tool_row()};
  TILE_TUNE_TRY(unfinished, database.unfinished_session(key.program, key.target, key.tool));
  if (unfinished) return false;
  TILE_TUNE_TRY(trials, database.trials_of(key.program, key.target, key.tool));
  return !trials.empty();
}

namespace {

Result<Tuned> tune_form(const Workload& workload, search::SmallVariant small_variant, const codegen::Target& target,
                        const TuningRequest& request, const Session& session, const Watch& watch) {
  const search::Space space(workload.program, target);
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(databases, open_databases(session));
  const TuningKey key{workload.row, target_row(target), tool_row()};
  TILE_TUNE_TRY(priors, load_priors(databases, key, workload.program));
  if (!priors.best && priors.seeds.empty()) {
    TILE_TUNE_TRY(nearest, transferred_schedules(workload, target, databases, kRelatives));
    for (auto& one : nearest) priors.seeds.push_back(std::move(one.schedule));
  }
  priors.seeds.insert(priors.seeds.begin(), request.seeds.begin(), request.seeds.end());
  for (const auto& seed : request.seeds) std::erase(priors.faulty, codegen::schedule_id(seed));  // asked for by name
  TILE_TUNE_TRY(start, start_session(databases.front(), key, request, space, session.report));
  if (start.strategy == search::Strategy::Model)
    TILE_TUNE_CHECK(load_experience(databases, key, workload.program, target, start.session, priors));
  TuningStore store(databases.front(), key, {start.session, start.seed, start.elapsed}, quarantine_folder(path),
                    [&watch] { return now_seconds() - watch.began; });
  auto report = search_schedules(space, workload, std::move(small_variant), store, std::move(priors), start, watch,
                                 session.executable);
  if (const auto& fault = store.bundle_fault())
    session.report.warn(fault->code, fmt::format("a failure is stored without its bundle: {}", fault->message));
  if (!report) {
    TILE_TUNE_CHECK(store.finish("aborted", std::nullopt));
    return tl::unexpected(report.error());
  }
  const bool stopped = watch.stop && !report->winner;
  TILE_TUNE_CHECK(store.finish(stopped ? "aborted" : "done", report->winner));
  if (report->stop_reason == search::StopReason::DefaultFailed)
    return fail(
        ErrorClass::Verification, "default-failed",
        fmt::format("not even the default schedule of {} works here: {} ({})", workload.row.name,
                    report->default_measurement.reason, search::outcome_name(report->default_measurement.outcome)));
  return Tuned{std::move(*report), start.seed, store.session(), path.string(), store.bundles()};
}

/// Less is spent on starting worker processes and on the reference.
constexpr double kLeastSeconds = 2;

/// What the form as written is searched with; nullopt where that is too little to learn anything.
std::optional<TuningRequest> request_as_written(const Workload& workload, const TuningRequest& request) {
  const search::Budget budget = wanted_budget(request);
  const double share = workload.row.flops / (workload.row.flops + workload.written->row.flops);
  TuningRequest own = request;
  own.seeds.clear();
  own.may_begin = true;
  if (budget.trials) own.trials = std::max(1, static_cast<int>(std::lround(share * *budget.trials)));
  if (budget.seconds) own.seconds = share * *budget.seconds;
  const double reference =
      reference::evaluation_seconds(workload.written->program) / static_cast<double>(codegen::available_cores().size());
  if (own.seconds && *own.seconds < kLeastSeconds + reference) return std::nullopt;
  return own;
}

/// The same without that.
TuningRequest request_without(const TuningRequest& own, TuningRequest request) {
  const search::Budget budget = wanted_budget(request);
  if (budget.trials) request.trials = std::max(1, *budget.trials - *own.trials);
  if (budget.seconds) request.seconds = *budget.seconds - *own.seconds;
  return request;
}

}  // namespace

Result<Tuned> tune_workload(const Workload& workload, search::SmallVariant small_variant, const codegen::Target& target,
                            const TuningRequest& request, const Session& session, const Watch& watch) {
  const bool resumes = request.resume && !request.trials && !request.seconds;  // with the budget that is stored
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  const double seconds = resumes ? kForEver : wanted_budget(request).seconds.value_or(kForEver);
  const search::Deadline end{watch.began + seconds};
  const search::Deadline last = search::earlier(watch.last, {end.at + overtime(seconds)});
  std::optional<TuningRequest> own;
  if (workload.written && !resumes) own = request_as_written(workload, request);
  TILE_TUNE_TRY(tuned, tune_form(workload, small_variant, target, own ? request_without(*own, request) : request,
                                 session, {watch.began, watch.stop, watch.progress, watch.onlooker, last}));
  if (!own || watch.stop) return tuned;
  // What the first search took beyond its share is not there any more.
  if (own->seconds) own->seconds = std::min(*own->seconds, end.left());
  if (own->seconds && *own->seconds < kLeastSeconds) return tuned;
  const Watch later{now_seconds(), watch.stop, watch.progress, watch.onlooker, last};
  const auto written = tune_form(*workload.written, small_variant, target, *own, session, later);
  if (!written)
    session.report.warn(written.error().code,
                        fmt::format("the program as written was not searched: {}", written.error().message));
  else if (written->report.winner)
    tuned.written_ns = written->report.winner->measurement.median_ns;
  return tuned;
}

}  // namespace tile_tune::cli
