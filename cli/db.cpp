// tile-tune db show: all that the tuning database knows of a program; the verbs of db.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_list.h"
#include "cli/db_rows.h"
#include "cli/db_verbs.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "db/database.h"
#include "engine/records/damage.h"
#include "engine/records/workload.h"
#include "engine/records/rung.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::cli {

namespace {

/// Whether a finalist was timed against the default: those of a default that failed were not.
bool timed(const db::TrialRow& trial) { return trial.ratio > 0; }

nlohmann::json row_json(const db::ShowRow& row) {
  nlohmann::json json = list_row_json(row.summary);
  json["outcomes"] = row.outcomes;
  json["source"] = row.summary.program.source;
  json["session_rows"] = nlohmann::json::array();
  for (const auto& session : row.sessions)
    json["session_rows"].push_back({{"id", session.id},
                                    {"seed", session.seed},
                                    {"strategy", session.strategy},
                                    {"state", session.state},
                                    {"budget", engine::json_of_text(session.budget_json)},
                                    {"created_ms", session.created_ms}});
  json["finals"] = nlohmann::json::array();
  for (const auto& stored : row.finals)
    json["finals"].push_back(
        {{"trial", stored.id},
         {"schedule_id", stored.trial.schedule_id},
         {"outcome", stored.trial.outcome},
         {"median_ns", timed(stored.trial) ? nlohmann::json(stored.trial.median_ns) : nullptr},
         {"ratio", timed(stored.trial) ? nlohmann::json(stored.trial.ratio) : nullptr},
         {"ratio_interval",
          timed(stored.trial) ? nlohmann::json{stored.trial.ratio_lo, stored.trial.ratio_hi} : nlohmann::json()},
         {"chosen", stored.trial.chosen}});
  return json;
}

std::string show_text(const db::ShowRow& row, const std::string& rung) {
  const auto& summary = row.summary;
  std::vector<std::string> outcomes;
  for (const auto& [outcome, count] : row.outcomes) outcomes.push_back(fmt::format("{} {}", count, outcome));
  std::vector<std::vector<std::string>> facts{
      {"program", program_text(summary.program)},
      {"sizes", engine::sizes_text(summary.program.sizes_json)},
      {"types", summary.program.dtypes},
      {"layout", storage_text(summary.program)},
      {"work", fmt::format("{}, {}", base::format_count(summary.program.flops, "FLOP"),
                           base::format_bytes(summary.program.bytes))},
      {"target", fmt::format("{}, {}", engine::machine_text(summary.target),
                             engine::threads_text(summary.target.machine.threads))},
      {"content", summary.program.content_hash},
      {"trials", fmt::format("{} ({})", summary.trials, fmt::join(outcomes, ", "))}};
  if (const auto& best = summary.best) {
    facts.push_back({"best", base::format_time(best->median_ns)});
    facts.push_back({"speed-up", speed_text(best->ratio, best->ratio_lo, best->ratio_hi)});
    facts.push_back({"of roofline", base::format_percent(best->peak_fraction)});
    facts.push_back({"rung here", rung.empty() ? "-" : rung});
    facts.push_back({"made by", fmt::format("tile-tune {}, Halide {}, LLVM {}", best->tool.tile_tune, best->tool.halide,
                                            best->tool.llvm)});
    facts.push_back({"schedule", best->schedule_id});
    facts.push_back({"", best->schedule_json});
  }
  std::string text = summary.id + "\n" + format_table({{""}, {""}}, facts, 2);
  std::vector<std::vector<std::string>> sessions;
  for (const auto& session : row.sessions)
    sessions.push_back(
        {session.id, base::format_date(session.created_ms), std::to_string(session.seed), session.state});
  text += "\n" + format_table({{"session"}, {"started"}, {"seed", Align::Right}, {"state"}}, sessions, 2);
  if (row.finals.empty()) return text;
  std::vector<std::vector<std::string>> finals;
  for (const auto& [id, session, trial] : row.finals)
    finals.push_back({trial.schedule_id.substr(0, 12),
                      trial.outcome == "ok" && !timed(trial) ? "not timed" : trial.outcome,
                      trial.median_ns > 0 ? base::format_time(trial.median_ns) : "-",
                      speed_text(trial.ratio, trial.ratio_lo, trial.ratio_hi), trial.chosen ? "chosen" : ""});
  return text + "\n" + format_table({{"finalist"}, {"outcome"}, {"time", Align::Right}, {"speed-up"}, {""}}, finals, 2);
}

/// Those of a name; all without one. None where another database of the stack may have it.
Result<std::vector<db::ShowRow>> rows_to_show(db::Database& database, const std::string& name) {
  std::vector<db::ShowRow> rows;
  if (!name.empty()) {
    auto shown = database.show(name);
    if (!shown && shown.error().code == "no-such-record") return rows;
    return shown;
  }
  TILE_TUNE_TRY(all, database.list());
  for (const auto& one : all) {
    TILE_TUNE_TRY(shown, database.show(one.id));
    rows.insert(rows.end(), std::make_move_iterator(shown.begin()), std::make_move_iterator(shown.end()));
  }
  return rows;
}

Result<Exit> show(const std::string& name, const Session& session) {
  TILE_TUNE_TRY(databases, engine::open_checked(session));
  nlohmann::json json = nlohmann::json::array();
  std::vector<std::string> texts;
  for (auto& one : databases) {
    TILE_TUNE_TRY(rows, rows_to_show(one.database, name));
    warn_of_damage(one.database, session.report);
    for (const auto& row : rows) {
      TILE_TUNE_TRY(rung, engine::rung_here(databases, row.summary, session));
      json.push_back(row_json(row));
      json.back()["rung"] = rung.empty() ? nlohmann::json() : nlohmann::json(rung);
      json.back()["database"] = one.path.string();
      texts.push_back(from_text(one, databases) + show_text(row, rung));
    }
  }
  if (json.empty() && !name.empty())
    return failure("no-such-record", fmt::format("nothing in the tuning database is called {}", name),
                   "`tile-tune db list` prints names and ids");
  if (texts.empty()) texts.push_back("the database holds no tuned program\n");
  TILE_TUNE_CHECK(session.output.json ? print_json(json) : print(fmt::format("{}", fmt::join(texts, "\n"))));
  return Exit::Success;
}

}  // namespace

std::string from_text(const engine::OpenDatabase& one, const std::vector<engine::OpenDatabase>& all) {
  return all.size() > 1 ? "\n" + one.path.string() + "\n" : "";
}

void warn_of_damage(const db::Database& database, const engine::Reporter& report) {
  if (!database.damaged_records().empty())
    report.warn("damaged-record", engine::damage_text(database.damaged_records()));
}

void warn_of_refusals(const std::vector<db::Refusal>& refused, const engine::Reporter& report) {
  constexpr size_t kReasons = 20, kNamed = 3;
  std::vector<std::string> reasons;  // as they come first
  std::map<std::string, std::vector<std::string>> records;
  for (const auto& one : refused) {
    auto& alike = records[one.why];
    if (alike.empty()) reasons.push_back(one.why);
    alike.push_back(one.record);
  }
  size_t untold = refused.size();
  for (size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
    const auto& alike = records[reasons[i]];
    untold -= alike.size();
    if (alike.size() == 1) {
      report.warn("refused-record", fmt::format("{} was left out: {}", alike.front(), reasons[i]));
      continue;
    }
    const auto named = alike.begin() + static_cast<long>(std::min(kNamed, alike.size()));
    report.warn("refused-record",
                fmt::format("{} records were left out, each because {} ({}{})", alike.size(), reasons[i],
                            fmt::join(alike.begin(), named, ", "), alike.size() > kNamed ? ", ..." : ""));
  }
  if (untold > 0) report.warn("refused-record", fmt::format("and {} more", untold));
}

nlohmann::json to_json(const std::vector<db::Refusal>& refused) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& one : refused) json.push_back(one.text());
  return json;
}

void add_db(Verb& app, Command& command) {
  Verb verb = app.add_verb("db", "Looks after the tuning database");
  verb.need_verb();
  add_db_list(app, verb, command);
  auto name = std::make_shared<std::string>();
  Verb show_verb = verb.add_verb("show", "All that is known of a program: best schedule, sessions, finals");
  show_verb
      .add_option("NAME", *name,
                  "A program's name, an einsum's subscripts or the first digits of an id; all if left out")
      .type_name("");
  show_verb.on_parsed([&command, name] { command = [name](Session& session) { return show(*name, session); }; });
  add_db_diff(verb, command);
  add_db_export(verb, command);
  add_db_import(verb, command);
  add_db_merge(verb, command);
  add_db_recheck(verb, command);
  add_db_prune(verb, command);
  add_db_recover(verb, command);
  add_db_stats(verb, command);
  add_db_quarantine(verb, command);
}

}  // namespace tile_tune::cli
