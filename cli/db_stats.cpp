// tile-tune db stats: how much a database holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_verbs.h"
#include "cli/table.h"
#include "db/database.h"

namespace tile_tune::cli {

namespace {

/// The file and what SQLite has not moved into it yet.
double bytes_of(const std::filesystem::path& path) {
  std::error_code error;
  double bytes = 0;
  for (const auto& file : {path, std::filesystem::path(path.string() + "-wal")})
    if (const auto size = std::filesystem::file_size(file, error); !error) bytes += static_cast<double>(size);
  return bytes;
}

std::string stats_text(const std::filesystem::path& path, const db::Counts& counts) {
  std::vector<std::string> outcomes;
  for (const auto& [outcome, count] : counts.outcomes) outcomes.push_back(fmt::format("{} {}", count, outcome));
  const std::string trials =
      fmt::format("{}{}", counts.trials, outcomes.empty() ? "" : fmt::format(" ({})", fmt::join(outcomes, ", ")));
  return path.string() + "\n" +
         format_table({{""}, {""}},
                      {{"size", base::format_bytes(bytes_of(path))},
                       {"programs", fmt::format("{}, {} of them tuned", counts.programs, counts.tuned)},
                       {"targets", std::to_string(counts.targets)},
                       {"tool versions", std::to_string(counts.tools)},
                       {"sessions", std::to_string(counts.sessions)},
                       {"trials", trials},
                       {"schedules", std::to_string(counts.schedules)}},
                      2);
}

Result<Exit> stats(const Session& session) {
  TILE_TUNE_TRY(databases, engine::open_checked(session));
  nlohmann::json json = nlohmann::json::array();
  std::vector<std::string> texts;
  for (auto& one : databases) {
    TILE_TUNE_TRY(counts, one.database.counts());
    texts.push_back(stats_text(one.path, counts));
    json.push_back({{"database", one.path.string()},
                    {"bytes", bytes_of(one.path)},
                    {"programs", counts.programs},
                    {"tuned", counts.tuned},
                    {"targets", counts.targets},
                    {"tools", counts.tools},
                    {"sessions", counts.sessions},
                    {"trials", counts.trials},
                    {"outcomes", counts.outcomes},
                    {"schedules", counts.schedules}});
  }
  TILE_TUNE_CHECK(session.output.json ? print_json(json) : print(fmt::format("{}", fmt::join(texts, "\n"))));
  return Exit::Success;
}

}  // namespace

void add_db_stats(Verb& db, Command& command) {
  db.add_verb("stats", "How much the database holds: programs, sessions, trials by outcome, bytes")
      .on_parsed([&command] { command = [](Session& session) { return stats(session); }; });
}

}  // namespace tile_tune::cli
