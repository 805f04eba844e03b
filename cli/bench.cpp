// tile-tune bench: schedules and baseline libraries side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/bench_report.h"
#include "cli/binding_options.h"
#include "cli/fitted_table.h"
#include "cli/interrupt.h"
#include "cli/option_checks.h"
#include "cli/progress_display.h"
#include "cli/verbs.h"
#include "codegen/lower/halide_backend.h"
#include "engine/bench/bench_json.h"
#include "engine/bench/measure.h"
#include "engine/bench/regression.h"
#include "engine/programs/bindings.h"
#include "engine/programs/program_argument.h"
#include "engine/programs/suite.h"
#include "engine/programs/suite_work.h"
#include "engine/records/workload.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::cli {

namespace {

struct BenchArguments {
  std::string program;
  engine::BindingOptions bindings;
  std::vector<std::string> against, only;
  std::string libraries;  // a folder
  bool autoschedulers = false;
  engine::RegressionOptions regression;
  std::string schedule;
  int rounds = search::kFewestRounds;
  double seconds = 1;  // a workload, beyond which rounds end
  uint64_t seed = 0;
};

Result<void> show(const engine::BenchRow& row, bool many, bool first, const Session& session, uint64_t seed) {
  if (session.output.json) return {};
  if (!many)
    return print(fmt::format("{}\n\n{}\n{}", engine::title_text({row.name, row.sizes}, row.layout),
                             bench_table(row, seed, output_columns()), bench_legend(false, false, output_columns())));
  if (first) TILE_TUNE_CHECK(print(bench_titles(has_autoscheduled(row))));
  TILE_TUNE_CHECK(print(bench_line(row, seed)));
  if (session.output.verbose) return print(bench_table(row, seed, output_columns()) + "\n");
  return {};
}

/// The folder of fetched libraries as an absolute path, or "".
Result<std::string> libraries_folder(const BenchArguments& arguments) {
  if (!arguments.libraries.empty()) {
    std::error_code error;
    const auto folder = std::filesystem::canonical(arguments.libraries, error);
    if (error || !std::filesystem::is_directory(folder / "lib", error))
      return fail(ErrorClass::Program, "no-libraries",
                  fmt::format("{} holds no libraries to compare with", arguments.libraries),
                  "scripts/libraries fetches them into a folder");
    return folder.string();
  }
  for (const auto baseline : search::kBaselines) {
    const search::BaselineKind& kind = search::kind_of(baseline);
    const auto& names = arguments.against;
    if (kind.is_fetched && std::find(names.begin(), names.end(), kind.name) != names.end())
      return fail(ErrorClass::Program, "no-libraries",
                  fmt::format("{} is one of the libraries of --libraries", kind.name),
                  "scripts/libraries fetches them into a folder");
  }
  return "";
}

Result<Exit> bench(const BenchArguments& arguments, const Session& session) {
  const StopOnInterrupt interrupt;
  TILE_TUNE_TRY(against, engine::baselines_named(arguments.against));
  TILE_TUNE_TRY(libraries, libraries_folder(arguments));
  TILE_TUNE_TRY(loaded,
                engine::load_programs({arguments.program}, arguments.bindings, session.report, engine::Defs::One));
  TILE_TUNE_CHECK(engine::keep_wanted(loaded, arguments.only));
  if (!arguments.schedule.empty() && loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  TILE_TUNE_TRY(bound, engine::bind_programs(loaded, arguments.bindings, session.report));
  TILE_TUNE_TRY(given, engine::parse_sizes(arguments.bindings.sizes));
  TILE_TUNE_TRY(target, session.target());
  if (target.device == codegen::Device::Gpu) {
    const bool wants_library = std::any_of(arguments.against.begin(), arguments.against.end(),
                                           [](const std::string& name) { return name != "none"; });
    if (wants_library)
      return fail(ErrorClass::Target, "not-on-device", "the libraries that bench compares with run on the CPU",
                  "without --against the default schedule, the stored one and, with --autoschedulers, Halide's run");
    against.clear();
  }
  TILE_TUNE_TRY(databases, engine::open_stack(session));
  TILE_TUNE_TRY(references, engine::stored_ratios(arguments.regression));
  std::vector<std::string> autoschedulers;
  if (arguments.autoschedulers) autoschedulers = codegen::halide_backend().autoschedulers[target.device];
  session.warn_of_threads();
  ProgressDisplay display(session, session.began);
  search::ContestOptions options;
  options.command = {session.executable, "worker"};
  options.target = target;
  options.seed = arguments.seed;
  options.rounds = arguments.rounds;
  options.seconds = arguments.seconds;
  options.fetched = libraries;
  options.stop = &interrupt.requested();
  options.onlooker = display.onlooker();
  const auto contest = search::Contest::start(options);
  if (!contest && !interrupt.requested()) return tl::unexpected(contest.error());
  std::vector<engine::BenchRow> rows;
  const auto measure_next = [&](size_t i) -> Result<void> {
    display.begin_task(fmt::format("{} of {}: {}", i + 1, loaded.size(), loaded[i].program.name));
    auto row = engine::measure(loaded[i], bound[i], engine::sizes_of(loaded[i], given),
                               {**contest, against, autoschedulers, target, session, databases, arguments.schedule});
    if (!row && interrupt.requested()) return {};
    if (!row) return tl::unexpected(row.error());
    rows.push_back(std::move(*row));
    return show(rows.back(), loaded.size() > 1, rows.size() == 1, session, arguments.seed);
  };
  std::vector<engine::Unfinished> failed;
  if (loaded.size() == 1) {
    if (!interrupt.requested()) TILE_TUNE_CHECK(measure_next(0));
  } else {
    std::vector<std::string> names;
    for (const auto& one : loaded) names.push_back(engine::name_of(one));
    failed = engine::work_through(names, measure_next, interrupt.requested(), session.report);
  }
  if (const auto sentence = absent_text(rows); !sentence.empty()) session.report.notice(sentence);
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json(engine::bench_json(rows, failed, target, arguments.seed)));
  } else if (loaded.size() > 1 && !rows.empty()) {
    const bool autoscheduled = std::any_of(rows.begin(), rows.end(), has_autoscheduled);
    TILE_TUNE_CHECK(print(fmt::format("\n{}\n{}", bench_means(rows, arguments.seed),
                                      bench_legend(true, autoscheduled, output_columns()))));
  }
  if (interrupt.requested()) {
    session.report.notice(fmt::format("stopped by {}: {} of {} measured, nothing is stored", interrupt_name(),
                                      rows.size(), base::format_number(loaded.size(), "workload")));
    return Exit::Interrupted;
  }
  TILE_TUNE_CHECK(engine::check_regressions(rows, references, arguments.regression, session.report, arguments.seed));
  if (failed.empty()) return Exit::Success;
  return tl::unexpected(engine::incomplete_suite(failed.front().why, failed.size(), loaded.size(), "measured"));
}

void add_regression_options(Verb& verb, engine::RegressionOptions& options) {
  verb.add_option("--max-regression", options.allowed,
                  "Fail if a tuned kernel's lead is smaller than the recorded one by more than this, as 3%")
      .type_name("PERCENT")
      .check(
          [](const std::string& text) { return engine::share_in(text) ? "" : "needs a percentage from 0 up to 100"; });
  Option since = verb.add_option("--since", options.since,
                                 "With --max-regression: compare with this output of bench --json, over best baselines")
                     .type_name("FILE");
  refuse_empty(since);
  since.needs("--max-regression");
}

}  // namespace

void add_bench(Verb& app, Command& command) {
  auto arguments = std::make_shared<BenchArguments>();
  Verb verb = app.add_verb("bench", "Times default, tuned and baseline libraries side by side");
  verb.add_option("PROGRAM", arguments->program, std::string(engine::kProgramArgument) + ", or a suite: FILE.json")
      .required()
      .type_name("");
  add_binding_options(verb, arguments->bindings);
  verb.add_option("--against", arguments->against,
                  "Baselines: onednn, onednn-packed, openblas, libxsmm, eigen, openmp, those of --libraries, or none "
                  "(default: all)")
      .type_name("NAME,...")
      .delimiter(',');
  refuse_empty(verb.add_option("--libraries", arguments->libraries,
                               "Newer releases to compare with, as scripts/libraries fetches them: onednn-gomp, "
                               "onednn-gomp-packed, onednn-sycl, onednn-sycl-packed, scipy-openblas, mkl")
                   .type_name("DIR"));
  refuse_empty(verb.add_option("--schedule", arguments->schedule, "One more schedule of a single program, as JSON")
                   .type_name("FILE"));
  verb.add_flag(
      "--autoschedulers", arguments->autoschedulers,
      "Also what Halide's Mullapudi2016 and Adams2019, or Anderson2021 for a GPU, make of each program (slow)");
  verb.add_option("--only", arguments->only, "Of a suite: workloads of these names (patterns) or groups")
      .type_name("GLOB,...")
      .delimiter(',');
  verb.add_option("--rounds", arguments->rounds, "Samples of each, at least (default: 31)")
      .type_name("N")
      .check(whole_number(1, std::numeric_limits<int>::max()));
  add_regression_options(verb, arguments->regression);
  need_positive_seconds(
      verb.add_option("--time", arguments->seconds, "Go on with rounds for so many seconds a workload (default: 1)")
          .type_name("S"));
  need_seed(
      verb.add_option("--seed", arguments->seed, "Of inputs and the order of rounds (default: 0)").type_name("N"));
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return bench(*arguments, session); }; });
}

}  // namespace tile_tune::cli
