// tile-tune db diff: what two databases know of the same programs, and which is the faster where that was found out.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.h"
#include "cli/db_rows.h"
#include "cli/db_verbs.h"
#include "cli/fitted_table.h"
#include "engine/records/comparison.h"
#include "engine/records/workload.h"

namespace tile_tune::cli {

namespace {

struct DiffArguments {
  std::string a, b;
  bool wide = false;
};

using Line = engine::ComparedProgram;

std::string schedules_text(const Line& line) {
  if (!line.a) return "only in b";
  if (!line.b) return "only in a";
  return line.same_schedule() ? "same" : "differ";
}

/// "b 1.25x": so many times as fast as the other.
std::string faster_text(const Line& line) {
  const std::string who = engine::faster(line);
  if (who.empty() || !line.race) return "-";
  if (who == "neither") return "neither";
  const double gain = line.race->b.ratio / line.race->a.ratio;
  return fmt::format("{} {:.2f}x", who, who == "b" ? gain : 1 / gain);
}

std::string race_text(const Line& line) {
  if (!line.race) return "-";
  return fmt::format("{}, {}", line.race->database.string(), base::format_date(line.race->a.created_ms));
}

std::string time_text(const std::optional<db::BestRow>& best) {
  return best ? base::format_time(best->median_ns) : "-";
}
std::string gain_text(const std::optional<db::BestRow>& best) { return best ? speed_text(best->ratio, 0, 0) : "-"; }

std::string table_of(const std::vector<Line>& lines, size_t width) {
  std::vector<std::vector<std::string>> cells;
  for (const Line& line : lines)
    cells.push_back({program_text(line.program), engine::sizes_text(line.program.sizes_json), schedules_text(line),
                     faster_text(line), time_text(line.a), time_text(line.b), gain_text(line.a), gain_text(line.b),
                     race_text(line), std::to_string(line.target.machine.threads), engine::machine_text(line.target),
                     storage_text(line.program), line.program.dtypes});
  return fitted_text(fit_table({{{"program"}, Keep::Cut},
                                {{"sizes"}, Keep::Cut},
                                {{"schedules"}, Keep::Whole},
                                {{"faster"}, Keep::Whole},
                                {{"time a", Align::Right}},
                                {{"time b", Align::Right}},
                                {{"speed-up a", Align::Right}},
                                {{"speed-up b", Align::Right}},
                                {{"race"}},
                                {{"threads", Align::Right}},
                                {{"target"}},
                                {{"layout"}},
                                {{"types"}}},
                               std::move(cells), width));
}

std::string summary(const std::vector<Line>& lines, const DiffArguments& arguments) {
  std::map<std::string, size_t> schedules, winners;
  size_t unraced = 0;
  for (const Line& line : lines) {
    ++schedules[schedules_text(line)];
    if (schedules_text(line) != "differ") continue;
    ++winners[engine::faster(line)];
    unraced += !line.race;
  }
  std::string text = fmt::format("{} the same schedule, {} others", schedules["same"], schedules["differ"]);
  if (schedules["differ"] > 0)
    text += fmt::format(" (a faster {}, b {}, neither {}, never raced {})", winners["a"], winners["b"],
                        winners["neither"], unraced);
  text += fmt::format(", {} only in a, {} only in b\n", schedules["only in a"], schedules["only in b"]);
  if (unraced > 0)
    text += fmt::format(
        "times of different runs do not compare: `tile-tune db merge {} {} --db both.db`, then `tile-tune db recheck "
        "--db both.db` races what differs\n",
        arguments.a, arguments.b);
  return text;
}

nlohmann::json side_json(const std::optional<db::BestRow>& best) { return best ? best_json(*best) : nlohmann::json(); }

nlohmann::json race_json(const std::optional<engine::HeadToHead>& race) {
  if (!race) return nullptr;
  const auto ratio = [](const db::TrialRow& trial) {
    return nlohmann::json{{"ratio", trial.ratio}, {"ratio_interval", {trial.ratio_lo, trial.ratio_hi}}};
  };
  return {{"database", race->database.string()},
          {"session", race->session},
          {"created_ms", race->a.created_ms},
          {"a", ratio(race->a)},
          {"b", ratio(race->b)}};
}

nlohmann::json line_json(const Line& line) {
  const std::string who = engine::faster(line);
  return {{"name", line.program.name},
          {"sizes", engine::json_of_text(line.program.sizes_json)},
          {"dtypes", line.program.dtypes},
          {"layout", line.program.layout},
          {"content_hash", line.program.content_hash},
          {"target", target_json(line.target)},
          {"a", side_json(line.a)},
          {"b", side_json(line.b)},
          {"same_schedule", line.same_schedule()},
          {"faster", who.empty() ? nlohmann::json() : nlohmann::json(who)},
          {"raced", race_json(line.race)}};
}

Result<Exit> diff(const DiffArguments& arguments, const Session& session) {
  TILE_TUNE_TRY(a, engine::open_checked(arguments.a));
  TILE_TUNE_TRY(b, engine::open_checked(arguments.b));
  TILE_TUNE_TRY(lines, engine::compare(a, b));
  warn_of_damage(a.database, session.report);
  warn_of_damage(b.database, session.report);
  if (session.output.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const Line& line : lines) json.push_back(line_json(line));
    TILE_TUNE_CHECK(print_json(json));
    return Exit::Success;
  }
  const std::string head = fmt::format("a: {}\nb: {}\n", arguments.a, arguments.b);
  const size_t width = arguments.wide ? 0 : output_columns();
  TILE_TUNE_CHECK(print(head + (lines.empty() ? "" : table_of(lines, width)) + summary(lines, arguments)));
  return Exit::Success;
}

}  // namespace

void add_db_diff(Verb& db, Command& command) {
  auto arguments = std::make_shared<DiffArguments>();
  Verb verb = db.add_verb(
      "diff", "What two databases hold as best for each program and target, and which is faster where they were raced");
  verb.add_option("A", arguments->a, "A database").required().type_name("");
  verb.add_option("B", arguments->b, "Another").required().type_name("");
  verb.add_flag("--wide", arguments->wide, "All columns at full width, as where the output is no terminal");
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return diff(*arguments, session); }; });
}

}  // namespace tile_tune::cli
