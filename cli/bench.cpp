// tile-tune bench: schedules and baseline libraries side by side.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/bench_regression.h"
#include "cli/bench_report.h"
#include "cli/binding_options.h"
#include "cli/fitted_table.h"
#include "cli/interrupt.h"
#include "cli/option_checks.h"
#include "cli/progress_display.h"
#include "cli/tuned_suite.h"
#include "cli/verbs.h"
#include "engine/programs/bindings.h"
#include "engine/programs/memory.h"
#include "engine/programs/program_argument.h"
#include "engine/programs/suite.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::cli {

namespace {

struct BenchArguments {
  std::string program;
  engine::BindingOptions bindings;
  std::vector<std::string> against, only;
  bool autoschedulers = false;
  RegressionOptions regression;
  std::string schedule;
  int rounds = 31;
  double seconds = 1;  // a workload, beyond which rounds end
  uint64_t seed = 0;
};

Result<std::vector<search::Baseline>> baselines_named(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto baseline : search::kBaselines) all.push_back(search::baseline_name(baseline));
  std::vector<search::Baseline> result;
  for (const auto baseline : search::kBaselines)
    if (names.empty() || std::find(names.begin(), names.end(), search::baseline_name(baseline)) != names.end())
      result.push_back(baseline);
  for (const auto& name : names)
    if (name != "none" && std::find(all.begin(), all.end(), name) == all.end())
      return fail(ErrorClass::Program, "unknown-baseline", fmt::format("there is no baseline '{}'", name),
                  fmt::format("there are {}, and none", fmt::join(all, ", ")));
  return result;
}

std::vector<std::string> named_constants(const ir::Program& bound) {
  std::vector<std::string> constants;
  for (const auto& tensor : bound.tensors)
    if (tensor.constant) constants.push_back(tensor.name);
  return constants;
}

/// Inputs that stay the same from call to call: those named constant, else a suite's weights.
std::vector<std::string> constants_of(const engine::LoadedProgram& loaded, const ir::Program& bound) {
  const auto constants = named_constants(bound);
  return constants.empty() && loaded.suite ? loaded.suite->weights : constants;
}

ir::Program without_constants(ir::Program program) {
  for (auto& tensor : program.tensors) tensor.constant = false;
  return program;
}

struct Bench {
  search::Contest& contest;
  const std::vector<search::Baseline>& against;
  const std::vector<codegen::AutoScheduler>& autoschedulers;
  const codegen::Target& target;
  const Session& session;
  std::vector<db::Database>& databases;
  const std::string& schedule;  // a file with one more, or empty
};

/// Adds the default and the tuned schedule of the program with `constants`, and that of the file `given` if there is
/// one; returns their numbers. `in_steps`: the form of the program that they are put beside (engine/records/planned.h).
Result<std::set<int>> add_packed(const engine::LoadedProgram& loaded, const ir::Program& plain,
                                 const std::vector<std::string>& constants, const ir::Sizes& sizes,
                                 const std::string& given, bool in_steps, const Bench& bench,
                                 std::vector<search::NamedSchedule>& schedules) {
  if (constants.empty()) return std::set<int>{};
  TILE_TUNE_TRY(packed, engine::with_constants(plain, constants));
  engine::Workload workload = engine::planned_workload(loaded, packed, sizes, bench.session);
  if (!in_steps && workload.written) workload = engine::Workload(*workload.written);
  std::set<int> numbers;
  for (size_t t = 0; t < workload.program.tensors.size(); ++t)
    if (workload.program.tensors[t].constant) numbers.insert(static_cast<int>(t));
  schedules.push_back({"default-packed", engine::default_choice(workload, bench.target).schedule, true});
  TILE_TUNE_TRY(tuned, engine::tuned_choice(workload, bench.target, bench.databases, bench.session));
  if (tuned) schedules.push_back({"tuned-packed", tuned->schedule, true});
  if (!given.empty()) {
    TILE_TUNE_TRY(choice, engine::given_choice(workload, bench.target, given));
    schedules.push_back({"given-packed", choice.schedule, true});
  }
  return numbers;
}

Result<BenchRow> measure(const engine::LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                         const Bench& bench) {
  TILE_TUNE_CHECK(engine::check_size(bound, engine::Use::Measure));
  const ir::Program plain = without_constants(bound);
  const engine::Workload planned = engine::planned_workload(loaded, plain, sizes, bench.session);
  TILE_TUNE_TRY(workload, engine::faster_form(planned, bench.target, bench.databases));
  TILE_TUNE_CHECK(engine::check_memory(workload.program, engine::Use::Measure));
  engine::tell_of_steps(workload, bench.session.report);
  std::vector<search::NamedSchedule> schedules{{"default", engine::default_choice(workload, bench.target).schedule}};
  TILE_TUNE_TRY(tuned, engine::tuned_choice(workload, bench.target, bench.databases, bench.session));
  BenchRow row;
  std::map<std::string, std::string> rungs;  // of stored schedules
  if (tuned) {
    schedules.push_back({"tuned", tuned->schedule});
    rungs["tuned"] = tuned->rung;
    row.record = tuned->record;
  }
  // A given schedule is one of the program with the constants that the command line names.
  const bool given_packed = !named_constants(bound).empty();
  if (!bench.schedule.empty() && !given_packed) {
    TILE_TUNE_TRY(given, engine::given_choice(workload, bench.target, bench.schedule));
    schedules.push_back({"given", given.schedule});
  }
  TILE_TUNE_TRY(constants,
                add_packed(loaded, plain, constants_of(loaded, bound), sizes, given_packed ? bench.schedule : "",
                           workload.written != nullptr, bench, schedules));
  row.name = loaded.suite ? loaded.suite->name : workload.row.name;
  row.group = loaded.suite ? loaded.suite->group : "";
  row.sizes = engine::sizes_text(workload.row.sizes_json);
  row.layout = workload.row.layout;
  row.counted_flops = workload.row.flops;
  row.counted_bytes = workload.row.bytes;
  row.flops = loaded.suite ? loaded.suite->flops.value_or(workload.row.flops) : workload.row.flops;
  row.bytes = loaded.suite ? loaded.suite->bytes.value_or(workload.row.bytes) : workload.row.bytes;
  row.from_memory = workload.row.bytes > static_cast<double>(bench.target.l3_bytes);
  TILE_TUNE_TRY(result, bench.contest.run(workload.program, schedules, bench.against, constants, bench.autoschedulers));
  row.result = std::move(result);
  for (auto& entry : row.result.entries)
    if (const auto rung = rungs.find(entry.name); rung != rungs.end()) entry.note = rung->second;
  return row;
}

Result<void> show(const BenchRow& row, bool many, bool first, const Session& session, uint64_t seed) {
  if (session.output.json) return {};
  if (!many)
    return print(fmt::format("{}\n\n{}\n{}", engine::title_text({row.name, row.sizes}, row.layout),
                             bench_table(row, seed, output_columns()), bench_legend(false, false, output_columns())));
  if (first) TILE_TUNE_CHECK(print(bench_titles(has_autoscheduled(row))));
  TILE_TUNE_CHECK(print(bench_line(row, seed)));
  if (session.output.verbose) return print(bench_table(row, seed, output_columns()) + "\n");
  return {};
}

Result<Exit> bench(const BenchArguments& arguments, const Session& session) {
  const StopOnInterrupt interrupt;
  TILE_TUNE_TRY(against, baselines_named(arguments.against));
  TILE_TUNE_TRY(loaded,
                engine::load_programs({arguments.program}, arguments.bindings, session.report, engine::Defs::One));
  std::erase_if(loaded, [&](const engine::LoadedProgram& one) { return !engine::is_wanted(one, arguments.only); });
  if (loaded.empty())
    return fail(ErrorClass::Program, "nothing-selected",
                fmt::format("no workload is named {}, nor its group", fmt::join(arguments.only, " or ")));
  if (!arguments.schedule.empty() && loaded.size() != 1)
    return fail(ErrorClass::Program, "several-programs", "--schedule is for a single program");
  TILE_TUNE_TRY(bound, engine::bind_programs(loaded, arguments.bindings, session.report));
  TILE_TUNE_TRY(given, engine::parse_sizes(arguments.bindings.sizes));
  TILE_TUNE_TRY(target, session.target());
  TILE_TUNE_TRY(databases, engine::open_stack(session));
  TILE_TUNE_TRY(references, stored_ratios(arguments.regression));
  std::vector<codegen::AutoScheduler> autoschedulers;
  if (arguments.autoschedulers)
    autoschedulers.assign(std::begin(codegen::kAutoSchedulers), std::end(codegen::kAutoSchedulers));
  session.warn_of_threads();
  ProgressDisplay display(session, session.began);
  search::ContestOptions options;
  options.command = {session.executable, "worker"};
  options.target = target;
  options.seed = arguments.seed;
  options.rounds = arguments.rounds;
  options.seconds = arguments.seconds;
  options.stop = &interrupt.requested();
  options.onlooker = display.onlooker();
  const auto contest = search::Contest::start(options);
  if (!contest && !interrupt.requested()) return tl::unexpected(contest.error());
  std::vector<BenchRow> rows;
  std::vector<Unmeasured> failed;
  for (size_t i = 0; i < loaded.size() && !interrupt.requested(); ++i) {
    display.begin_task(fmt::format("{} of {}: {}", i + 1, loaded.size(), loaded[i].program.name));
    auto row = measure(loaded[i], bound[i], engine::sizes_of(loaded[i], given),
                       {**contest, against, autoschedulers, target, session, databases, arguments.schedule});
    if (!row && interrupt.requested()) break;
    if (!row && loaded.size() == 1) return tl::unexpected(row.error());
    if (!row) {
      const std::string name = engine::name_of(loaded[i]);
      failed.push_back({name, row.error()});
      if (row.error().message.find(name) == std::string::npos) row.error().message.insert(0, name + ": ");
      session.report.diagnostic(row.error());
      if (concerns_all(row.error())) break;
      continue;
    }
    rows.push_back(std::move(*row));
    TILE_TUNE_CHECK(show(rows.back(), loaded.size() > 1, rows.size() == 1, session, arguments.seed));
  }
  if (const auto sentence = absent_text(rows); !sentence.empty()) session.report.notice(sentence);
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json(bench_json(rows, failed, target, arguments.seed)));
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
  TILE_TUNE_CHECK(check_regressions(rows, references, arguments.regression, session.report, arguments.seed));
  if (failed.empty()) return Exit::Success;
  return tl::unexpected(incomplete_suite(failed.front().why, failed.size(), loaded.size(), "measured"));
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
                  "Baselines: onednn, onednn-packed, openblas, libxsmm, eigen, openmp, or none (default: all)")
      .type_name("NAME,...")
      .delimiter(',');
  refuse_empty(verb.add_option("--schedule", arguments->schedule, "One more schedule of a single program, as JSON")
                   .type_name("FILE"));
  verb.add_flag("--autoschedulers", arguments->autoschedulers,
                "Also what Halide's Mullapudi2016 and Adams2019 make of each program (slow to build)");
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
