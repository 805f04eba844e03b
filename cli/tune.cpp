// tile-tune tune: searches schedules for one program on this machine and keeps what it learns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <limits>

#include "cli/bindings.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/option_checks.h"
#include "cli/package_targets.h"
#include "cli/packaging.h"
#include "cli/program_argument.h"
#include "cli/progress_line.h"
#include "cli/schedule_choice.h"
#include "cli/summary.h"
#include "cli/tuning.h"
#include "cli/verbs.h"
#include "codegen/emit/names.h"

namespace tile_tune::cli {

namespace {

struct TuneArguments {
  std::string program;
  BindingOptions bindings;
  TuningRequest request;
  std::string strategy = "model";
  std::string emit;
};

/// Paths of the files written.
Result<std::vector<std::string>> emit(const Workload& workload, const std::string& directory, const Session& session) {
  // Through the database, so that `build` later writes the very same package.
  TILE_TUNE_TRY(targets, package_targets(session));
  const auto choose = [&](const codegen::Target& target) { return stored_choice(workload, target, session); };
  const std::string& name = workload.program.name;
  TILE_TUNE_TRY(kernel, kernel_for(workload, name, targets, choose));
  TILE_TUNE_TRY(files, package_in_child({kernel}, {name, directory, targets.back(), TILE_TUNE_VERSION}));
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back((std::filesystem::path(directory) / file).string());
  return paths;
}

/// The summary always, the package where there is a winner and one is asked for.
Result<void> conclude(const TuneSummary& summary, const std::string& directory, const Session& session) {
  const bool json = session.report.json();
  if (!json) TILE_TUNE_CHECK(print(summary_text(summary)));
  Result<std::vector<std::string>> files;
  if (summary.report.winner && !directory.empty()) files = emit(summary.workload, directory, session);
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

/// `stored`: the program with its layouts and constants. `directory`: where the winner's package is written; empty:
/// none is.
Result<Exit> tune_for(const codegen::Target& target, const LoadedProgram& loaded, const ir::Program& stored,
                      const ir::Sizes& given, const TuneArguments& arguments, const std::string& directory,
                      const Session& session) {
  const double began = now_seconds();
  const ir::Sizes sizes = sizes_of(loaded, given);
  TILE_TUNE_TRY(bound, ir::bind(stored, sizes));
  TILE_TUNE_CHECK(check_memory(bound));
  if (!directory.empty()) {
    // What would stop the package is said before the tuning, not after it.
    TILE_TUNE_CHECK(codegen::check_external_name("function", bound.name));
    TILE_TUNE_CHECK(check_writable(directory));
  }
  const Workload workload = make_workload(loaded, bound, sizes);
  const StopOnInterrupt interrupt;
  ProgressLine line(session.report);
  const auto show = [&](const search::Progress& progress) {
    line.show(progress_text(progress, now_seconds() - began));
  };
  const auto show_wait = [&](const std::string& sentence) { line.show(sentence); };
  auto tuned = tune_workload(workload, small_variant_of(stored, sizes, target), target, arguments.request, session,
                             {began, interrupt.requested(), show, show_wait});
  line.clear();
  if (!tuned) {
    // A search that is stopped before it has begun has nothing to tell.
    if (interrupt.requested()) return Exit::Interrupted;
    return tl::unexpected(tuned.error());
  }
  const auto& report = tuned->report;
  const TuneSummary summary{workload,       target,         report, tuned->seed, now_seconds() - began,
                            tuned->session, tuned->database};
  TILE_TUNE_CHECK(conclude(summary, directory, session));
  if (interrupt.requested()) return Exit::Interrupted;
  if (!report.winner)
    return failure("no-finals", "the finalists could not be timed, so nothing was chosen",
                   "tune again; the trials are stored");
  return Exit::Success;
}

/// For each of several targets with the whole budget, one after the other.
Result<Exit> tune_one(const LoadedProgram& loaded, const ir::Program& stored, const ir::Sizes& given,
                      const TuneArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(targets, session.targets());
  for (const auto& target : targets) TILE_TUNE_CHECK(codegen::check_runs_here(target));
  for (const auto& target : targets) {
    const bool last = &target == &targets.back();
    if (targets.size() > 1) session.report.notice(fmt::format("tuning for {}", target.halide));
    TILE_TUNE_TRY(exit, tune_for(target, loaded, stored, given, arguments, last ? arguments.emit : "", session));
    if (exit != Exit::Success) return exit;
  }
  return Exit::Success;
}

/// A suite's workloads one after the other, each with the whole budget; one that fails is told of, the others go on.
Result<Exit> tune(const TuneArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(loaded, load_programs({arguments.program}, arguments.bindings, session.report));
  TILE_TUNE_TRY(given, parse_sizes(arguments.bindings.sizes));
  std::vector<ir::Program> programs;
  for (const auto& one : loaded) programs.push_back(one.program);
  TILE_TUNE_CHECK(check_size_names(programs, given));
  TILE_TUNE_TRY(stored, with_storage(loaded, arguments.bindings));
  if (!arguments.request.schedule.empty() && loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  if (loaded.size() == 1) return tune_one(loaded.front(), stored.front(), given, arguments, session);
  if (!loaded.front().suite) return tl::unexpected(several_programs(arguments.program, loaded));
  std::optional<Diagnostic> fault;
  for (size_t i = 0; i < loaded.size(); ++i) {
    const auto outcome = tune_one(loaded[i], stored[i], given, arguments, session);
    if (outcome && *outcome == Exit::Interrupted) return outcome;
    if (outcome) continue;
    session.report.diagnostic(outcome.error());
    fault = outcome.error();
  }
  if (!fault) return Exit::Success;
  return tl::unexpected(Diagnostic{fault->error_class, fault->code, "not every workload of the suite was tuned"});
}

}  // namespace

void add_tune(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<TuneArguments>();
  auto* verb = app.add_subcommand("tune", "Searches schedules, verifies and measures each, keeps all of it");
  verb->add_option("PROGRAM", arguments->program, kProgramArgument)->required()->type_name("");
  add_binding_options(*verb, arguments->bindings);
  verb->add_option("--trials", arguments->request.trials, "Stop after so many candidates")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  need_positive_seconds(verb->add_option("--time", arguments->request.seconds,
                                         "Stop after so many seconds (default: 60, unless --trials is given)")
                            ->type_name("S"));
  auto* seed = verb->add_option("--seed", arguments->request.seed, "Repeats a search (default: random, and printed)")
                   ->type_name("N");
  need_seed(seed);
  auto* schedule = verb->add_option("--schedule", arguments->request.schedule,
                                    "A schedule for a single program, as JSON, to begin with");
  refuse_empty(schedule->type_name("FILE"));
  auto* strategy = verb->add_option("--strategy", arguments->strategy,
                                    "How candidates are chosen: model (default), genetic or random")
                       ->type_name("NAME")
                       ->check(CLI::IsMember({"model", "genetic", "random"}));
  verb->add_flag("--resume", arguments->request.resume, "Goes on with the last unfinished session of this program")
      ->excludes(seed)
      ->excludes(schedule)
      ->excludes(strategy);
  refuse_empty(
      verb->add_option("--emit", arguments->emit, "Writes the winner's package there at the end")->type_name("DIR"));
  verb->callback([&command, arguments] {
    arguments->request.strategy = *search::parse_strategy(arguments->strategy);
    command = [arguments](Session& session) { return tune(*arguments, session); };
  });
}

}  // namespace tile_tune::cli
