// tile-tune tune: searches schedules for one program on this machine and keeps what it learns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <limits>
#include <optional>
#include <random>

#include "cli/bindings.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/option_checks.h"
#include "cli/packaging.h"
#include "cli/program_argument.h"
#include "cli/progress_line.h"
#include "cli/schedule_choice.h"
#include "cli/summary.h"
#include "cli/tuning_store.h"
#include "cli/verbs.h"
#include "codegen/emit/names.h"
#include "search/evolve/tune.h"
#include "search/measure/workers.h"
#include "search/space/small_variant.h"
#include "search/space/space.h"

namespace tile_tune::cli {

namespace {

constexpr double kDefaultSeconds = 60;  // rulings 17

struct TuneArguments {
  std::string program;
  BindingOptions bindings;
  std::optional<int> trials;
  std::optional<double> seconds;
  std::optional<uint64_t> seed;
  bool resume = false;
  std::string emit;
};

/// A session to work in: a new one, or one that was left unfinished.
struct Start {
  std::string session;
  uint64_t seed = 0;
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

search::Budget wanted_budget(const TuneArguments& arguments) {
  if (arguments.trials || arguments.seconds) return {arguments.trials, arguments.seconds};
  return {std::nullopt, kDefaultSeconds};
}

/// 32 bits, so that it is easy to type again.
uint64_t random_seed() { return std::random_device()(); }

/// What the stored budget leaves, unless the command line names one of its own.
search::Budget remaining_budget(const TuneArguments& arguments, const db::UnfinishedSession& session, int trials_done) {
  if (arguments.trials || arguments.seconds) return wanted_budget(arguments);
  const auto json = nlohmann::json::parse(session.session.budget_json, nullptr, false);
  search::Budget budget;
  if (json.is_object() && json.contains("trials")) budget.trials = std::max(0, json["trials"].get<int>() - trials_done);
  if (json.is_object() && json.contains("seconds"))
    budget.seconds = std::max(0.0, json["seconds"].get<double>() - session.elapsed_s);
  return budget;
}

Result<Start> begin(db::Database& database, const TuningKey& key, const TuneArguments& arguments) {
  Start start;
  start.seed = arguments.seed.value_or(random_seed());
  start.budget = wanted_budget(arguments);
  db::SessionRow row;
  row.seed = start.seed;
  row.strategy = "evolution";
  row.options_json = "{}";
  row.budget_json = budget_json(start.budget).dump();
  TILE_TUNE_TRY(session, database.begin_session(key.program, key.target, key.tool, row));
  start.session = session;
  return start;
}

Result<Start> resume(db::Database& database, const TuningKey& key, const TuneArguments& arguments,
                     const db::UnfinishedSession& unfinished) {
  Start start;
  start.session = unfinished.session.id;
  start.seed = unfinished.session.seed;
  start.elapsed = unfinished.elapsed_s;
  TILE_TUNE_CHECK(database.resume_session(start.session));
  TILE_TUNE_TRY(stored, database.trials_of(key.program, key.target, key.tool, start.session));
  int searched = 0;
  for (const auto& one : stored) {
    TILE_TUNE_TRY(trial, trial_from_row(one.trial));
    searched += trial.origin != "final";
    start.done.push_back(std::move(trial));
  }
  start.budget = remaining_budget(arguments, unfinished, searched);
  return start;
}

Result<Start> start_session(db::Database& database, const TuningKey& key, const TuneArguments& arguments,
                            const Reporter& report) {
  if (!arguments.resume) return begin(database, key, arguments);
  TILE_TUNE_TRY(unfinished, database.unfinished_session(key.program, key.target, key.tool));
  if (unfinished) return resume(database, key, arguments, *unfinished);
  report.notice("there is no unfinished session of this program: a new one begins");
  return begin(database, key, arguments);
}

/// The first is written, the others are read.
Result<std::vector<db::Database>> open_databases(const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  std::vector<db::Database> databases;
  for (const auto& path : paths) {
    TILE_TUNE_TRY(database, db::Database::open(path, databases.empty() ? db::Mode::ReadWrite : db::Mode::ReadOnly));
    databases.push_back(std::move(database));
  }
  return databases;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Candidates of a program too large to be checked in full are checked in full at small sizes.
search::SmallVariant small_variant_of(const ir::Program& program, const ir::Sizes& sizes,
                                      const codegen::Target& target) {
  const auto small = search::small_variant(program, sizes);
  if (!small) return {};
  const search::Space space(*small, target);
  return [space](const ir::Program&, const codegen::Schedule& schedule) {
    return std::pair{space.program(), space.adapt(schedule)};
  };
}

Result<search::TuneReport> search_schedules(const search::Space& space, search::SmallVariant small_variant,
                                            TuningStore& store, search::Priors priors, const Start& start,
                                            const StopOnInterrupt& interrupt, const Session& session, double began) {
  search::WorkerOptions worker_options;
  worker_options.target = space.target();
  worker_options.seed = start.seed;
  worker_options.stop = &interrupt.requested();
  worker_options.small_variant = std::move(small_variant);
  // Candidates compile in 0.1 to 1 s (design/search.md); those that take ten times as long must not eat the budget: a
  // batch waits for its slowest build.
  worker_options.limits.build_seconds = 10;
  if (start.budget.seconds)
    worker_options.limits.build_seconds =
        std::clamp(*start.budget.seconds / 10, 3.0, worker_options.limits.build_seconds);
  ProgressLine line(session.report);
  worker_options.on_wait = [&line](const std::string& sentence) { line.show(sentence); };
  TILE_TUNE_TRY(workers, search::Workers::start(space.program(), space.default_schedule(), std::move(worker_options)));
  const search::Moves moves = search::moves_of(space);
  search::TuneOptions options;
  options.seed = start.seed;
  options.budget = start.budget;
  // What was spent on getting ready counts.
  if (options.budget.seconds) options.budget.seconds = std::max(0.0, *options.budget.seconds - (now_seconds() - began));
  options.cores = static_cast<int>(codegen::available_cores().size());
  priors.unfinished = start.done;
  const search::Surroundings surroundings{now_seconds, interrupt.requested(), [&](const search::Progress& progress) {
                                            line.show(progress_text(progress, now_seconds() - began));
                                          }};
  return search::tune(moves, *workers, store, priors, options, surroundings);
}

/// Paths of the files written.
Result<std::vector<std::string>> emit(const Workload& workload, const codegen::Target& target,
                                      const std::string& directory, const Session& session) {
  // Through the database, so that `build` later writes the very same package.
  TILE_TUNE_TRY(choice, stored_choice(workload, target, session));
  const std::string& name = workload.program.name;
  const codegen::Kernel kernel{workload.program, choice.schedule, name, choice.provenance, choice.record};
  TILE_TUNE_TRY(files, package_in_child({kernel}, {name, directory, target, TILE_TUNE_VERSION}));
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back((std::filesystem::path(directory) / file).string());
  return paths;
}

/// The summary always, the package where there is a winner and one is asked for.
Result<void> conclude(const TuneSummary& summary, const std::string& directory, const Session& session) {
  const bool json = session.report.json();
  if (!json) TILE_TUNE_CHECK(print(summary_text(summary)));
  Result<std::vector<std::string>> files;
  if (summary.report.winner && !directory.empty()) files = emit(summary.workload, summary.target, directory, session);
  if (json) {
    auto object = summary_json(summary);
    if (files && !files->empty()) object["files"] = *files;
    TILE_TUNE_CHECK(print_json(object));
  } else if (files && !files->empty()) {
    TILE_TUNE_CHECK(print(fmt::format("\n{}\n", fmt::join(*files, "\n"))));
  }
  if (!files) return tl::unexpected(files.error());
  return {};
}

Result<Exit> tune(const TuneArguments& arguments, const Session& session) {
  const double began = now_seconds();
  if (arguments.seconds && !std::isfinite(*arguments.seconds))
    return fail(ErrorClass::Program, "command-line", "--time needs a number of seconds");
  TILE_TUNE_TRY(loaded, load_program(arguments.program, arguments.bindings, session.report));
  TILE_TUNE_TRY(given, parse_sizes(arguments.bindings.sizes));
  TILE_TUNE_CHECK(check_size_names({loaded.program}, given));
  const ir::Sizes sizes = sizes_of(loaded, given);
  TILE_TUNE_TRY(laid_out, with_layouts(loaded.program, arguments.bindings.layouts));
  TILE_TUNE_TRY(bound, ir::bind(laid_out, sizes));
  TILE_TUNE_CHECK(check_memory(bound));
  TILE_TUNE_TRY(target, session.target());
  if (!arguments.emit.empty()) {
    // What would stop the package is said before the tuning, not after it.
    TILE_TUNE_CHECK(codegen::check_external_name("function", bound.name));
    TILE_TUNE_CHECK(check_writable(arguments.emit));
  }
  const Workload workload = make_workload(loaded, bound, sizes);
  const search::Space space(workload.program, target);

  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(databases, open_databases(session));
  const TuningKey key{workload.row, target_row(target), tool_row()};
  TILE_TUNE_TRY(priors, load_priors(databases, key, workload.program));
  const StopOnInterrupt interrupt;
  TILE_TUNE_TRY(start, start_session(databases.front(), key, arguments, session.report));
  TuningStore store(databases.front(), start.session, start.elapsed, [began] { return now_seconds() - began; });
  auto report = search_schedules(space, small_variant_of(laid_out, sizes, target), store, std::move(priors), start,
                                 interrupt, session, began);
  if (!report) {
    // A search that is stopped before it has begun has nothing to tell.
    TILE_TUNE_CHECK(store.finish("aborted", std::nullopt));
    if (interrupt.requested()) return Exit::Interrupted;
    return tl::unexpected(report.error());
  }
  const bool stopped = interrupt.requested() && !report->winner;
  TILE_TUNE_CHECK(store.finish(stopped ? "aborted" : "done", report->winner));
  if (report->stop_reason == search::StopReason::DefaultFailed)
    return fail(
        ErrorClass::Verification, "default-failed",
        fmt::format("not even the default schedule of {} works here: {} ({})", workload.row.name,
                    report->default_measurement.reason, search::outcome_name(report->default_measurement.outcome)));
  const TuneSummary summary{workload,        target,       *report, start.seed, now_seconds() - began,
                            store.session(), path.string()};
  TILE_TUNE_CHECK(conclude(summary, arguments.emit, session));
  if (interrupt.requested()) return Exit::Interrupted;
  if (!report->winner)
    return failure("no-finals", "the finalists could not be timed, so nothing was chosen",
                   "tune again; the trials are stored");
  return Exit::Success;
}

}  // namespace

void add_tune(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<TuneArguments>();
  auto* verb = app.add_subcommand("tune", "Searches schedules, verifies and measures each, keeps all of it");
  verb->add_option("PROGRAM", arguments->program, kProgramArgument)->required()->type_name("");
  add_binding_options(*verb, arguments->bindings);
  verb->add_option("--trials", arguments->trials, "Stop after so many candidates")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  verb->add_option("--time", arguments->seconds, "Stop after so many seconds (default: 60, unless --trials is given)")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  auto* seed = verb->add_option("--seed", arguments->seed, "Repeats a search (default: random, and printed)")
                   ->type_name("N")
                   ->check(CLI::NonNegativeNumber);
  verb->add_flag("--resume", arguments->resume, "Goes on with the last unfinished session of this program")
      ->excludes(seed);
  refuse_empty(
      verb->add_option("--emit", arguments->emit, "Writes the winner's package there at the end")->type_name("DIR"));
  verb->callback(
      [&command, arguments] { command = [arguments](Session& session) { return tune(*arguments, session); }; });
}

}  // namespace tile_tune::cli
