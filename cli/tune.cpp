// tile-tune tune: searches schedules for one program on this machine and keeps what it learns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <limits>
#include <optional>

#include "base/json_text.h"
#include "base/process/fork.h"
#include "cli/binding_options.h"
#include "cli/dry_run_text.h"
#include "cli/predicted_text.h"
#include "cli/fitted_table.h"
#include "cli/interrupt.h"
#include "cli/option_checks.h"
#include "cli/progress_display.h"
#include "cli/sized_summary.h"
#include "cli/status_line.h"
#include "cli/summary.h"
#include "cli/tuned_suite.h"
#include "cli/verbs.h"
#include "codegen/target/host.h"
#include "engine/packages/packaging.h"
#include "engine/programs/bindings.h"
#include "engine/programs/program_argument.h"
#include "engine/programs/suite.h"
#include "engine/programs/suite_work.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/sized/sizes.h"
#include "engine/sized/tuning.h"
#include "engine/tasks.h"
#include "engine/tune.h"

namespace tile_tune::cli {

namespace {

struct TuneArguments {
  std::vector<std::string> programs;
  engine::BindingOptions bindings;
  engine::TuningRequest request;
  std::string strategy = "model";
  std::string emit;
  std::vector<std::string> schedules, only;  // schedules: files
  bool dry_run = false, no_measure = false, weights = false, events = false;

  /// Nothing is tried, so that there is no report of a search.
  bool tries_nothing() const { return dry_run || no_measure; }
};

/// How the search of one workload ended.
struct Outcome {
  Exit exit = Exit::Success;
  TunedWorkload line;
  nlohmann::json summary = nullptr;  // summary_json; null: skipped, or stopped before it began
};

std::string not_written() {
  return fmt::format("stopped by {}: the library was not written; `tile-tune build` writes it", interrupt_name());
}

/// The summary always, the package where there is a winner and one is asked for. As JSON into `object`.
Result<void> conclude(const TuneSummary& summary, const std::string& directory, const Session& session,
                      const std::atomic<bool>* stop, nlohmann::json& object) {
  const bool json = session.output.json;
  if (!json) TILE_TUNE_CHECK(print(summary_text(summary, output_columns())));
  Result<std::vector<std::string>> files;
  if (summary.report.winner && !directory.empty()) files = engine::package(summary.workload, directory, session, stop);
  if (json) {
    object = summary_json(summary);
    if (files && !files->empty()) object["files"] = *files;
  } else if (files && !files->empty()) {
    TILE_TUNE_CHECK(print(fmt::format("\n{}\n", fmt::join(*files, "\n"))));
  }
  if (!files) return tl::unexpected(files.error());
  return {};
}

Result<void> show_plan(const engine::Workload& workload, const codegen::Target& target,
                       const engine::TuningRequest& request, const Session& session, nlohmann::json& object) {
  TILE_TUNE_TRY(plan, dry_run(workload, target, request, session));
  if (!session.output.json) return print(dry_run_text(plan, workload, output_columns()));
  object = dry_run_json(plan, workload);
  return {};
}

/// The best by prediction, and the package of the first where one is asked for.
Result<void> show_predicted(const engine::Workload& workload, const codegen::Target& target,
                            const engine::TuningRequest& request, const std::string& directory, const Session& session,
                            nlohmann::json& object) {
  const StopOnInterrupt interrupt;
  TILE_TUNE_TRY(predicted, engine::predict(workload, target, request, session, interrupt.requested()));
  std::vector<std::string> files;
  if (!directory.empty()) {
    TILE_TUNE_TRY(written, engine::package(workload, directory, session, &interrupt.requested()));
    files = std::move(written);
  }
  if (!session.output.json) return print(predicted_text(workload, target, predicted, files));
  object = predicted_json(workload, target, predicted, files);
  return {};
}

/// How a search stands, for programs that drive this one.
std::string event_line(const search::Progress& progress, double seconds) {
  return base::json_text({{"progress",
                           {{"seconds", seconds},
                            {"trials", progress.trials + progress.replayed},
                            {"best_ns", progress.best_ns},
                            {"best_ratio", progress.best_ratio},
                            {"finals", progress.phase == search::Phase::Finals}}}}) +
         "\n";
}

/// `stored`: the program with its layouts and constants. `directory`: where the winner's package is written; empty:
/// none is. What is known when it fails is in `outcome` all the same.
Result<void> tune_for(const codegen::Target& target, const engine::LoadedProgram& loaded, const ir::Program& stored,
                      const ir::Sizes& given, const TuneArguments& arguments, const std::string& directory,
                      const std::string& task, double began, const Session& session, Outcome& outcome) {
  const ir::Sizes sizes = engine::sizes_of(loaded, given);
  TILE_TUNE_TRY(bound, ir::bind(stored, sizes));
  TILE_TUNE_TRY(workload, engine::load(loaded, bound, sizes, session));
  if (arguments.dry_run) return show_plan(workload, target, arguments.request, session, outcome.summary);
  if (arguments.no_measure)
    return show_predicted(workload, target, arguments.request, directory, session, outcome.summary);
  engine::TuningRequest request = arguments.request;
  for (const auto& file : arguments.schedules) {
    TILE_TUNE_TRY(choice, engine::given_choice(workload, target, file));
    request.seeds.push_back(std::move(choice.schedule));
  }
  if (request.resume && request.may_begin) {
    TILE_TUNE_TRY(finished, engine::is_finished(workload, target, session));
    if (finished) return {};
  }
  const StopOnInterrupt interrupt;
  const auto tuned = [&] {
    ProgressDisplay display(session, began, engine::wanted_budget(request).seconds);
    display.begin_task(task, workload.row.flops);
    const auto show = [&](const search::Progress& progress) {
      display.show(progress);
      if (arguments.events) write_to_standard_error(event_line(progress, search::now_seconds() - began));
    };
    return engine::tune({workload, target, request, engine::small_variant_of(stored, sizes, workload, target)}, session,
                        {began, interrupt.requested(), show, display.onlooker()});
  }();
  if (interrupt.requested()) outcome.exit = Exit::Interrupted;
  if (!tuned) {
    if (!interrupt.requested()) return tl::unexpected(tuned.error());
    session.report.notice(fmt::format("stopped by {} before the first candidate was measured: nothing was learned{}",
                                      interrupt_name(), workload.program.statements.size() > 1 ? " of the whole" : ""));
    if (session.output.json) outcome.summary = {{"program", workload.row.name}, {"stopped_by", interrupt_name()}};
    return {};
  }
  const auto& report = tuned->report;
  const std::string stopped_by = outcome.exit == Exit::Interrupted ? interrupt_name() : "";
  const TuneSummary summary{workload,
                            target,
                            report,
                            tuned->seed,
                            search::now_seconds() - began,
                            tuned->steps_seconds,
                            tuned->session,
                            tuned->database,
                            tuned->reproducers,
                            tuned->written_ns,
                            stopped_by,
                            session.output.verbose};
  outcome.line.report = report;
  outcome.line.seconds = summary.seconds;
  // A search that was stopped writes what it found; a second signal ends that.
  const auto stop = outcome.exit == Exit::Interrupted ? nullptr : &interrupt.requested();
  if (const auto done = conclude(summary, directory, session, stop, outcome.summary); !done) {
    if (!stop || !*stop) return tl::unexpected(done.error());
    session.report.notice(not_written());
    if (!outcome.summary.is_null()) outcome.summary["stopped_by"] = interrupt_name();
    outcome.exit = Exit::Interrupted;
    return {};
  }
  const bool is_late =
      report.stop_reason == search::StopReason::Time && report.finals_held == search::FinalsHeld::NoTime;
  if (!report.winner && !is_late && outcome.exit != Exit::Interrupted)
    return failure("no-finals", "the finalists could not be timed, so nothing was chosen",
                   "tune again; the trials are stored");
  return {};
}

/// For each of several targets with the whole budget, one after the other; that of the first runs since `began`.
Result<void> tune_one(const engine::LoadedProgram& loaded, const ir::Program& stored, const ir::Sizes& given,
                      const TuneArguments& arguments, const std::string& task, double began, const Session& session,
                      Outcome& outcome) {
  TILE_TUNE_TRY(targets, session.targets());
  for (const auto& target : targets)
    if (!arguments.no_measure) TILE_TUNE_CHECK(codegen::check_runs_here(target));
  nlohmann::json summaries = nlohmann::json::array();
  for (const auto& target : targets) {
    const bool last = &target == &targets.back();
    if (targets.size() > 1) session.report.notice(fmt::format("tuning for {}", target.text()));
    const auto done = tune_for(target, loaded, stored, given, arguments, last ? arguments.emit : "", task,
                               &target == &targets.front() ? began : search::now_seconds(), session, outcome);
    if (!outcome.summary.is_null()) summaries.push_back(std::move(outcome.summary));
    outcome.summary = summaries.empty() ? nlohmann::json() : targets.size() == 1 ? summaries.front() : summaries;
    if (!done || outcome.exit != Exit::Success) return done;
  }
  return {};
}

/// A suite's workloads, each with the whole budget.
Result<Exit> tune_suite(const std::vector<engine::Variant>& variants, const ir::Sizes& given, TuneArguments arguments,
                        const Session& session) {
  arguments.request.may_begin = true;
  std::vector<TunedWorkload> lines;
  nlohmann::json summaries = nlohmann::json::array();
  Exit exit = Exit::Success;
  std::vector<std::string> names;
  for (const auto& variant : variants) names.push_back(variant.name);
  const auto tune_next = [&](size_t i) {
    Outcome outcome;
    outcome.line.name = names[i];
    const std::string task = fmt::format("{} of {}: {}", i + 1, names.size(), names[i]);
    auto done = tune_one(*variants[i].loaded, variants[i].program, given, arguments, task,
                         i == 0 ? session.began : search::now_seconds(), session, outcome);
    exit = outcome.exit;
    if (!done) outcome.line.failure = done.error().message;
    if (done && exit == Exit::Interrupted && !outcome.line.report) outcome.line.failure = "stopped before it began";
    if (!outcome.summary.is_null()) summaries.push_back(std::move(outcome.summary));
    lines.push_back(std::move(outcome.line));
    return done;
  };
  const auto& stop = StopOnInterrupt::requested();
  const auto failed = engine::work_through(names, tune_next, stop, session.report);
  if (stop && lines.size() < names.size()) exit = Exit::Interrupted;
  if (arguments.tries_nothing() && session.output.json) TILE_TUNE_CHECK(print_json(summaries));
  if (!arguments.tries_nothing()) {
    TILE_TUNE_CHECK(session.output.json ? print_json(suite_json(lines, summaries))
                                        : print("\n" + suite_text(lines, output_columns())));
  }
  if (exit == Exit::Interrupted || failed.empty()) return exit;
  if (arguments.tries_nothing()) return tl::unexpected(failed.front().why);
  return tl::unexpected(engine::incomplete_suite(failed.front().why, failed.size(), lines.size(), "tuned"));
}

Result<Exit> tune_alone(const engine::LoadedProgram& loaded, const ir::Program& stored, const ir::Sizes& given,
                        const TuneArguments& arguments, const Session& session) {
  Outcome outcome;
  const auto done = tune_one(loaded, stored, given, arguments, "", session.began, session, outcome);
  if (!outcome.summary.is_null()) TILE_TUNE_CHECK(print_json(outcome.summary));
  if (!done) return tl::unexpected(done.error());
  return outcome.exit;
}

/// What needs one size for each name.
Result<void> check_for_many(const TuneArguments& arguments) {
  const std::pair<bool, const char*> excluded[] = {{arguments.request.resume, "--resume"},
                                                   {arguments.dry_run, "--dry-run"},
                                                   {arguments.no_measure, "--no-measure"},
                                                   {arguments.weights, "--weights"},
                                                   {!arguments.schedules.empty(), "--schedule"}};
  for (const auto& [given, name] : excluded)
    if (given)
      return fail(ErrorClass::Program, "command-line", fmt::format("{} is for one size of each name", name),
                  "ranges and lists of sizes are always searched anew, from the stored records");
  return {};
}

/// One program at many sizes.
Result<Exit> tune_many(const std::vector<engine::LoadedProgram>& loaded, const std::vector<codegen::EntrySize>& sizes,
                       const TuneArguments& arguments, const Session& session) {
  TILE_TUNE_CHECK(check_for_many(arguments));
  if (arguments.programs.size() > 1)
    return fail(ErrorClass::Program, "several-programs", "ranges and lists of sizes are for a single program",
                "tune the programs one at a time");
  if (loaded.size() != 1) return tl::unexpected(engine::several_programs(arguments.programs.front(), loaded));
  TILE_TUNE_TRY(workload, engine::load_sized(loaded.front(), arguments.bindings, sizes, session));
  engine::tell_of_steps(workload.top, session.report);
  TILE_TUNE_TRY(target, session.target());
  const std::string& name = workload.top.program.name;
  TILE_TUNE_CHECK(engine::check_package(name, arguments.emit));
  const StopOnInterrupt interrupt;
  const auto tuned = [&] {
    ProgressDisplay display(session, session.began, engine::wanted_budget(arguments.request).seconds);
    const auto show = [&](const search::Progress& progress) { display.show(progress); };
    return engine::tune_sized(workload, target, arguments.request, session,
                              {session.began, interrupt.requested(), show, display.onlooker()});
  }();
  if (interrupt.requested()) {
    session.report.notice(
        fmt::format("stopped by {}: trials are kept, and the next search begins with the best of them; no kernels were "
                    "chosen",
                    interrupt_name()));
    if (session.output.json) TILE_TUNE_CHECK(print_json({{"program", name}, {"stopped_by", interrupt_name()}}));
    return Exit::Interrupted;
  }
  if (!tuned) return tl::unexpected(tuned.error());
  auto json = summary_json(workload, **tuned);
  if (!session.output.json) TILE_TUNE_CHECK(print(summary_text(workload, **tuned, output_columns())));
  if (!arguments.emit.empty() && (*tuned)->timed > 0) {
    const auto files = engine::package(workload, target, arguments.emit, session, &interrupt.requested());
    if (!files && interrupt.requested()) {
      session.report.notice(not_written());
      json["stopped_by"] = interrupt_name();
      if (session.output.json) TILE_TUNE_CHECK(print_json(json));
      return Exit::Interrupted;
    }
    if (!files) return tl::unexpected(files.error());
    json["files"] = *files;
    if (!session.output.json) TILE_TUNE_CHECK(print(fmt::format("{}\n", fmt::join(*files, "\n"))));
  }
  if (session.output.json) TILE_TUNE_CHECK(print_json(json));
  return Exit::Success;
}

Result<Exit> tune(TuneArguments arguments, const Session& session) {
  std::optional<StopOnInterrupt> interrupt;
  if (!arguments.dry_run) interrupt.emplace();
  session.warn_of_threads();
  TILE_TUNE_TRY(many, engine::take_entry_sizes(arguments.bindings.sizes));
  TILE_TUNE_TRY(loaded,
                engine::load_programs(arguments.programs, arguments.bindings, session.report, engine::Defs::One));
  TILE_TUNE_CHECK(engine::keep_wanted(loaded, arguments.only));
  if (!many.empty()) return tune_many(loaded, many, arguments, session);
  TILE_TUNE_TRY(given, engine::parse_sizes(arguments.bindings.sizes));
  if (!arguments.schedules.empty() && loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  TILE_TUNE_TRY(variants, engine::tuning_tasks(loaded, arguments.bindings, given, arguments.weights, arguments.emit,
                                               session.report));
  if (variants.size() == 1) return tune_alone(loaded.front(), variants.front().program, given, arguments, session);
  return tune_suite(variants, given, arguments, session);
}

}  // namespace

void add_tune(Verb& app, Command& command) {
  auto arguments = std::make_shared<TuneArguments>();
  Verb verb = app.add_verb("tune", "Searches schedules, verifies and measures each, keeps all of it");
  verb.add_option(
          "PROGRAM", arguments->programs,
          std::string(engine::kProgramArgument) + ", or a suite: FILE.json; several are tuned one after the other")
      .required()
      .type_name("");
  add_binding_options(verb, arguments->bindings);
  verb.add_option("--trials", arguments->request.trials, "Stop after so many candidates")
      .type_name("N")
      .check(whole_number(1, std::numeric_limits<int>::max()));
  need_positive_seconds(verb.add_option("--time", arguments->request.seconds,
                                        "Stop after so many seconds (default: 60, unless --trials is given)")
                            .type_name("S"));
  Option seed = verb.add_option("--seed", arguments->request.seed, "Repeats a search (default: random, and printed)")
                    .type_name("N");
  need_seed(seed);
  Option schedule = verb.add_option("--schedule", arguments->schedules,
                                    "A schedule for a single program, as JSON, to begin with; repeatable")
                        .type_name("FILE")
                        .one_value_each();
  refuse_empty(schedule);
  Option strategy = verb.add_option("--strategy", arguments->strategy,
                                    "How candidates are chosen: model (default), genetic or random")
                        .type_name("NAME")
                        .one_of({"model", "genetic", "random"});
  Option resume =
      verb.add_flag("--resume", arguments->request.resume, "Goes on with the last unfinished session of this program")
          .excludes(seed)
          .excludes(schedule)
          .excludes(strategy);
  Option dry_run =
      verb.add_flag("--dry-run", arguments->dry_run, "Only says how large the search is and how long it would take");
  verb.add_flag("--no-measure", arguments->no_measure,
                "Runs nothing: keeps the schedules that are predicted to be the best, as such")
      .excludes(resume)
      .excludes(schedule)
      .excludes(strategy)
      .excludes(dry_run);
  verb.add_option("--only", arguments->only, "Of a suite: workloads of these names (patterns) or groups")
      .type_name("GLOB,...")
      .delimiter(',');
  verb.add_flag("--weights", arguments->weights,
                "Of a suite: tunes each workload a second time with its weights constant");
  verb.add_flag(
      "--events", arguments->events,
      "Also writes a line of JSON to standard error whenever candidates were tried; ends with who started it");
  refuse_empty(
      verb.add_option("--emit", arguments->emit, "Writes the winner's package there at the end").type_name("DIR"));
  verb.on_parsed([&command, arguments] {
    arguments->request.strategy = *search::parse_strategy(arguments->strategy);
    command = [arguments](Session& session) {
      if (arguments->events) base::end_with_starter();
      return tune(*arguments, session);
    };
  });
}

}  // namespace tile_tune::cli
