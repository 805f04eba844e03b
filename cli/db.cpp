// tile-tune db list, db show: what the tuning database knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/db_families.h"
#include "cli/damage.h"
#include "cli/db_verbs.h"
#include "cli/records.h"
#include "cli/schedule_choice.h"
#include "cli/table.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "db/database.h"
#include "db/stack.h"

namespace tile_tune::cli {

namespace {

std::string speed_text(double ratio, double lo, double hi) {
  if (ratio <= 0) return "-";
  return lo > 0 ? fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio, lo, hi) : fmt::format("{:.2f}x", ratio);
}

std::string storage_text(const db::ProgramRow& program) {
  const auto constants = constant_names(program);
  return constants.empty() ? program.layout : fmt::format("{}, constant {}", program.layout, fmt::join(constants, " "));
}

nlohmann::json best_json(const db::BestRow& best) {
  return {{"trial", best.trial_id},
          {"session", best.session},
          {"schedule_id", best.schedule_id},
          {"schedule", json_of_text(best.schedule_json)},
          {"median_ns", best.median_ns},
          {"ratio", best.ratio},
          {"ratio_interval", {best.ratio_lo, best.ratio_hi}},
          {"peak_fraction", best.peak_fraction > 0 ? nlohmann::json(best.peak_fraction) : nlohmann::json()},
          {"tool", {{"tile_tune", best.tool.tile_tune}, {"halide", best.tool.halide}, {"llvm", best.tool.llvm}}}};
}

nlohmann::json row_json(const db::ListRow& row) {
  nlohmann::json json{
      {"id", row.id},
      {"name", row.program.name},
      {"sizes", json_of_text(row.program.sizes_json)},
      {"dtypes", row.program.dtypes},
      {"layout", row.program.layout},
      {"constants", constant_names(row.program)},
      {"content_hash", row.program.content_hash},
      {"flops", row.program.flops},
      {"bytes", row.program.bytes},
      {"target", {{"halide", row.target.halide}, {"cpu_model", row.target.cpu_model}, {"threads", row.target.threads}}},
      {"sessions", row.sessions},
      {"trials", row.trials},
      {"created_ms", row.created_ms}};
  if (row.best) json["best"] = best_json(*row.best);
  return json;
}

nlohmann::json row_json(const db::ShowRow& row) {
  nlohmann::json json = row_json(row.summary);
  json["outcomes"] = row.outcomes;
  json["source"] = row.summary.program.source;
  json["session_rows"] = nlohmann::json::array();
  for (const auto& session : row.sessions)
    json["session_rows"].push_back({{"id", session.id},
                                    {"seed", session.seed},
                                    {"strategy", session.strategy},
                                    {"state", session.state},
                                    {"budget", json_of_text(session.budget_json)},
                                    {"created_ms", session.created_ms}});
  json["finals"] = nlohmann::json::array();
  for (const auto& stored : row.finals)
    json["finals"].push_back({{"trial", stored.id},
                              {"schedule_id", stored.trial.schedule_id},
                              {"outcome", stored.trial.outcome},
                              {"median_ns", stored.trial.median_ns},
                              {"ratio", stored.trial.ratio},
                              {"ratio_interval", {stored.trial.ratio_lo, stored.trial.ratio_hi}},
                              {"chosen", stored.trial.chosen}});
  return json;
}

std::string list_text(const std::vector<db::ListRow>& rows, const std::vector<db::DoneSession>& families) {
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows)
    cells.push_back({row.id, row.program.name, sizes_text(row.program.sizes_json), row.program.dtypes,
                     storage_text(row.program), machine_text(row.target), std::to_string(row.target.threads),
                     std::to_string(row.trials), row.best ? format_time(row.best->median_ns) : "-",
                     row.best ? speed_text(row.best->ratio, 0, 0) : "-",
                     row.best ? format_percent(row.best->peak_fraction) : "-", format_date(row.created_ms)});
  if (cells.empty()) return families.empty() ? "the database holds no tuned program\n" : "";
  return format_table({{"id"},
                       {"program"},
                       {"sizes"},
                       {"types"},
                       {"layout"},
                       {"target"},
                       {"threads", Align::Right},
                       {"trials", Align::Right},
                       {"time", Align::Right},
                       {"speed-up", Align::Right},
                       {"of roofline", Align::Right},
                       {"tuned"}},
                      cells);
}

/// On which rung of the ladder the best schedule of a row stands here (cli/schedule_choice.h).
Result<std::string> rung_here(std::vector<OpenDatabase>& stack, const db::ListRow& row, const Session& session) {
  const auto target = session.target();
  if (!row.best || !target) return std::string();
  db::BestRow best = *row.best;
  const db::TargetRow here = target_row(*target);
  if (best.target.halide != here.halide || best.target.threads != here.threads) return std::string("of another target");
  best.same_target = db::target_id(best.target) == db::target_id(here);
  best.same_tool = db::tool_id(best.tool) == db::tool_id(tool_row());
  std::vector<db::Database*> databases;
  for (auto& one : stack) databases.push_back(&one.database);
  TILE_TUNE_TRY(refuted, db::refutation(databases, row.program, here, tool_row(), best.schedule_id));
  if (!refuted) return rung_of(best);
  const auto& [outcome, reason] = std::tie(refuted->trial.outcome, refuted->trial.reason);
  return "not taken: " + (outcome == "ok" ? "slower than the default" : outcome + ", " + reason);
}

std::string show_text(const db::ShowRow& row, const std::string& rung) {
  const auto& summary = row.summary;
  std::vector<std::string> outcomes;
  for (const auto& [outcome, count] : row.outcomes) outcomes.push_back(fmt::format("{} {}", count, outcome));
  std::vector<std::vector<std::string>> facts{
      {"program", summary.program.name},
      {"sizes", sizes_text(summary.program.sizes_json)},
      {"types", summary.program.dtypes},
      {"layout", storage_text(summary.program)},
      {"work", fmt::format("{}, {}", format_count(summary.program.flops, "FLOP"), format_bytes(summary.program.bytes))},
      {"target", fmt::format("{}, {}", machine_text(summary.target), threads_text(summary.target.threads))},
      {"content", summary.program.content_hash},
      {"trials", fmt::format("{} ({})", summary.trials, fmt::join(outcomes, ", "))}};
  if (const auto& best = summary.best) {
    facts.push_back({"best", format_time(best->median_ns)});
    facts.push_back({"speed-up", speed_text(best->ratio, best->ratio_lo, best->ratio_hi)});
    facts.push_back({"of roofline", format_percent(best->peak_fraction)});
    facts.push_back({"rung here", rung.empty() ? "-" : rung});
    facts.push_back({"made by", fmt::format("tile-tune {}, Halide {}, LLVM {}", best->tool.tile_tune, best->tool.halide,
                                            best->tool.llvm)});
    facts.push_back({"schedule", best->schedule_id});
    facts.push_back({"", best->schedule_json});
  }
  std::string text = summary.id + "\n" + format_table({{""}, {""}}, facts, 2);
  std::vector<std::vector<std::string>> sessions;
  for (const auto& session : row.sessions)
    sessions.push_back({session.id, format_date(session.created_ms), std::to_string(session.seed), session.state});
  text += "\n" + format_table({{"session"}, {"started"}, {"seed", Align::Right}, {"state"}}, sessions, 2);
  if (row.finals.empty()) return text;
  std::vector<std::vector<std::string>> finals;
  for (const auto& [id, session, trial] : row.finals)
    finals.push_back({trial.schedule_id.substr(0, 12), trial.outcome, format_time(trial.median_ns),
                      speed_text(trial.ratio, trial.ratio_lo, trial.ratio_hi), trial.chosen ? "chosen" : ""});
  return text + "\n" + format_table({{"finalist"}, {"outcome"}, {"time", Align::Right}, {"speed-up"}, {""}}, finals, 2);
}

/// Which file a row is from is said where there are several.
std::string from_text(const OpenDatabase& one, const std::vector<OpenDatabase>& all) {
  return all.size() > 1 ? "\n" + one.path.string() + "\n" : "";
}

Result<Exit> list(const Session& session) {
  TILE_TUNE_TRY(databases, open_checked(session));
  nlohmann::json json = nlohmann::json::array();
  std::string text;
  for (auto& one : databases) {
    TILE_TUNE_TRY(rows, one.database.list());
    TILE_TUNE_TRY(families, stored_families(one.database));
    warn_of_damage(one.database, session.report);
    const auto add = [&](nlohmann::json row) {
      row["database"] = one.path.string();
      json.push_back(std::move(row));
    };
    for (const auto& row : rows) add(row_json(row));
    for (const auto& row : families) add(family_row_json(row));
    text += from_text(one, databases) + list_text(rows, families) + families_text(families);
  }
  TILE_TUNE_CHECK(session.report.json() ? print_json(json) : print(text));
  return Exit::Success;
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
  TILE_TUNE_TRY(databases, open_checked(session));
  nlohmann::json json = nlohmann::json::array();
  std::vector<std::string> texts;
  for (auto& one : databases) {
    TILE_TUNE_TRY(rows, rows_to_show(one.database, name));
    warn_of_damage(one.database, session.report);
    for (const auto& row : rows) {
      TILE_TUNE_TRY(rung, rung_here(databases, row.summary, session));
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
  TILE_TUNE_CHECK(session.report.json() ? print_json(json) : print(fmt::format("{}", fmt::join(texts, "\n"))));
  return Exit::Success;
}

}  // namespace

Result<std::vector<OpenDatabase>> open_checked(const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  std::vector<OpenDatabase> databases;
  for (const auto& path : paths) {
    TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadOnly));
    TILE_TUNE_CHECK(database.check_pages());
    databases.push_back({path, std::move(database)});
  }
  return databases;
}

void warn_of_damage(const db::Database& database, const Reporter& report) {
  if (!database.damaged_records().empty()) report.warn("damaged-record", damage_text(database.damaged_records()));
}

void warn_of_refusals(const std::vector<std::string>& refused, const Reporter& report) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(refused.size(), kShown); ++i)
    report.warn("refused-record", fmt::format("{} was left out", refused[i]));
  if (refused.size() > kShown) report.warn("refused-record", fmt::format("and {} more", refused.size() - kShown));
}

void add_db(CLI::App& app, Command& command) {
  auto* verb = app.add_subcommand("db", "Looks after the tuning database");
  verb->require_subcommand(1);
  verb->add_subcommand("list", "One line for each program and target")->callback([&command] {
    command = [](Session& session) { return list(session); };
  });
  auto name = std::make_shared<std::string>();
  auto* show_verb = verb->add_subcommand("show", "All that is known of a program: best schedule, sessions, finals");
  show_verb->add_option("NAME", *name, "A program's name or the first digits of its id; all if left out")
      ->type_name("");
  show_verb->callback([&command, name] { command = [name](Session& session) { return show(*name, session); }; });
  add_db_export(*verb, command);
  add_db_import(*verb, command);
  add_db_merge(*verb, command);
  add_db_verify(*verb, command);
  add_db_prune(*verb, command);
  add_db_recover(*verb, command);
  add_db_stats(*verb, command);
  add_db_quarantine(*verb, command);
}

}  // namespace tile_tune::cli
