// tile-tune db prune: old trials give way, what is known of programs stays.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/db_verbs.h"
#include "cli/option_checks.h"
#include "db/database.h"

namespace tile_tune::cli {

namespace {

struct PruneArguments {
  int days = 30;
  int keep = 10;
};

constexpr int kMostDays = 36'500;

Result<Exit> prune(const PruneArguments& arguments, const Session& session) {
  using namespace std::chrono;
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_CHECK(db::Database::open(path, db::Mode::ReadOnly));  // a slip in the name makes no new file
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  TILE_TUNE_CHECK(database.check_pages(db::Database::Depth::Indexes));
  db::PruneRules rules;
  rules.older_than_ms =
      duration_cast<milliseconds>((system_clock::now() - hours(24) * arguments.days).time_since_epoch()).count();
  rules.keep_fastest = arguments.keep;
  TILE_TUNE_TRY(pruned, database.prune(rules));
  if (session.output.json) {
    TILE_TUNE_CHECK(print_json({{"trials", pruned.trials},
                                {"schedules", pruned.schedules},
                                {"bytes_before", pruned.bytes_before},
                                {"bytes_after", pruned.bytes_after}}));
  } else {
    TILE_TUNE_CHECK(print(fmt::format("{} and {} deleted, {} became {}\n",
                                      base::format_number(static_cast<size_t>(pruned.trials), "trial"),
                                      base::format_number(static_cast<size_t>(pruned.schedules), "schedule"),
                                      base::format_bytes(static_cast<double>(pruned.bytes_before)),
                                      base::format_bytes(static_cast<double>(pruned.bytes_after)))));
  }
  return Exit::Success;
}

}  // namespace

void add_db_prune(Verb& db, Command& command) {
  auto arguments = std::make_shared<PruneArguments>();
  Verb verb =
      db.add_verb("prune", "Thins the trials of old sessions; the best, finals, faults and an even sample stay");
  verb.add_option("--older-than", arguments->days, "Only sessions that began so many days ago (default: 30)")
      .type_name("DAYS")
      .check(whole_number(0, kMostDays));
  verb.add_option("--keep", arguments->keep, "The fastest so many of each session stay (default: 10)")
      .type_name("N")
      .check(whole_number(1, 1'000'000));
  verb.on_parsed(
      [&command, arguments] { command = [arguments](Session& session) { return prune(*arguments, session); }; });
}

}  // namespace tile_tune::cli
