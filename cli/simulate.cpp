// tile-tune simulate: what strategies of `tune` would have needed on the spaces a database has recorded. No hardware.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/fitted_table.h"
#include "cli/option_checks.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "db/database.h"
#include "engine/records/recorded_space.h"
#include "engine/records/workload.h"
#include "search/evolve/simulate.h"

namespace tile_tune::cli {

namespace {

// Fewer tell nothing of a strategy: the first eight trials are seeds.
constexpr int kFewestTrials = 32;

struct SimulateArguments {
  std::string program;
  std::vector<std::string> strategies{"model", "genetic", "random"};
  int seeds = 20;
  int trials = 200;
};

struct Replayed {
  db::RecordedRow recorded;
  std::string strategy;
  search::Replay replay;
};

std::string text_of(double trials, int reached, int seeds) {
  return 2 * reached >= seeds ? fmt::format("{:g}", trials) : "-";
}

std::string table_of(const std::vector<Replayed>& lines, int seeds) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [recorded, strategy, replay] : lines) {
    rows.push_back({recorded.program.name, engine::sizes_text(recorded.program.sizes_json), std::to_string(replay.size),
                    fmt::format("{:.2f}x", replay.best_ratio), strategy,
                    text_of(replay.to_90, replay.reached_90, seeds), text_of(replay.to_95, replay.reached_95, seeds),
                    replay.quality.pairs > 0 ? base::format_percent(replay.quality.pairwise_accuracy()) : "-",
                    replay.quality.pairs > 0 ? base::format_percent(replay.quality.top_recall()) : "-"});
  }
  return format_table({{"program"},
                       {"sizes"},
                       {"schedules", Align::Right},
                       {"best", Align::Right},
                       {"strategy"},
                       {"trials to 90 %", Align::Right},
                       {"to 95 %", Align::Right},
                       {"pairs ordered", Align::Right},
                       {"fastest foreseen", Align::Right}},
                      rows);
}

std::string legend(int seeds) {
  return format_table({{""}, {""}},
                      {{"schedules", "recorded ones, which the searches find again without measuring"},
                       {"best", "the fastest of them against the default schedule"},
                       {"trials to 90 %, 95 %",
                        fmt::format("until a search has that share of the best one's speed (median of {}; -: fewer "
                                    "than half reach it)",
                                    base::format_number(static_cast<size_t>(seeds), "search", "searches"))},
                       {"pairs ordered", "of two schedules not tried yet, how often the model knows the faster one"},
                       {"fastest foreseen", "how much of a batch's fastest quarter the model has in its own"}},
                      0, output_columns());
}

nlohmann::json json_of(const Replayed& line) {
  const auto& [recorded, strategy, replay] = line;
  nlohmann::json json{{"program", recorded.program.name},
                      {"sizes", engine::json_of_text(recorded.program.sizes_json)},
                      {"content_hash", recorded.program.content_hash},
                      {"target", recorded.target.text()},
                      {"threads", recorded.target.machine.threads},
                      {"schedules", replay.size},
                      {"best_ratio", replay.best_ratio},
                      {"strategy", strategy},
                      {"median_trials_to_90", replay.to_90},
                      {"median_trials_to_95", replay.to_95},
                      {"seeds_that_reached_90", replay.reached_90},
                      {"seeds_that_reached_95", replay.reached_95}};
  if (replay.quality.pairs > 0) {
    json["pairwise_accuracy"] = replay.quality.pairwise_accuracy();
    json["top_recall"] = replay.quality.top_recall();
  }
  return json;
}

Result<Exit> simulate(const SimulateArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
  TILE_TUNE_TRY(recorded, database.recorded());
  std::vector<Replayed> lines;
  bool named = false;
  for (const auto& row : recorded) {
    if (!arguments.program.empty() && row.program.name != arguments.program) continue;
    named = true;
    if (arguments.program.empty() && row.trials < kFewestTrials) continue;
    auto recording = engine::recording_of(database, row);
    if (!recording) {
      session.report.warn(recording.error().code, fmt::format("{}: {}", row.program.name, recording.error().message),
                          recording.error().note);
      continue;
    }
    for (const auto& strategy : arguments.strategies) {
      TILE_TUNE_TRY(replay,
                    search::replay(*recording, *search::parse_strategy(strategy), arguments.seeds, arguments.trials));
      lines.push_back({row, strategy, replay});
    }
  }
  if (!named && !arguments.program.empty())
    return failure("no-such-record", fmt::format("nothing in the tuning database is called {}", arguments.program),
                   "`tile-tune db list` prints names");
  if (lines.empty())
    return failure("no-recording", "no program in the tuning database has enough trials to search among",
                   fmt::format("`tile-tune tune` records them: {} or more are wanted", kFewestTrials));
  if (!session.output.json) {
    TILE_TUNE_CHECK(print(fmt::format("{}\n{}", table_of(lines, arguments.seeds), legend(arguments.seeds))));
    return Exit::Success;
  }
  nlohmann::json json = nlohmann::json::array();
  for (const auto& line : lines) json.push_back(json_of(line));
  TILE_TUNE_CHECK(print_json(json));
  return Exit::Success;
}

}  // namespace

void add_simulate(Verb& app, Command& command) {
  auto arguments = std::make_shared<SimulateArguments>();
  Verb verb = app.add_verb("simulate", "Compares strategies on the trials in a database, without measuring");
  refuse_empty(verb.add_option("PROGRAM", arguments->program, "A name in `db list` (default: all with enough trials)")
                   .type_name(""));
  verb.add_option("--strategy", arguments->strategies, "model, genetic or random; repeatable (default: all three)")
      .type_name("NAME")
      .one_value_each()
      .one_of({"model", "genetic", "random"});
  verb.add_option("--seeds", arguments->seeds, "Searches for each, of which the median counts (default: 20)")
      .type_name("N")
      .check(whole_number(1, 1000));
  verb.add_option("--trials", arguments->trials, "Trials of each search (default: 200)")
      .type_name("N")
      .check(whole_number(1, 100000));
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return simulate(*arguments, session); }; });
}

}  // namespace tile_tune::cli
