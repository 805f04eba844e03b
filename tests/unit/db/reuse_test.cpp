// What is taken from a database and what not: refuted schedules, stacked databases, relatives; what prune() keeps.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "base/sha256.h"
#include "db/stack.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

/// A finished session with these trials.
void tune(Database& db, const std::vector<TrialRow>& trials, const ToolRow& by = tool(), int64_t created_ms = 1'000,
          const std::string& strategy = "evolve", const ProgramRow& program = matmul(),
          const TargetRow& on = target()) {
  SessionRow row = session(created_ms);
  row.strategy = strategy;
  const auto run = value(db.begin_session(program, on, by, row));
  for (const auto& one : trials) value(db.append_trial(run, one));
  value(db.finish_session(run, "done"));
}

TrialRow at(TrialRow row, int64_t created_ms) {
  row.created_ms = created_ms;
  return row;
}

TrialRow fault(int tile, const std::string& outcome, int64_t created_ms) {
  TrialRow row = at(trial(0, tile), created_ms);
  row.origin = "prior";
  row.outcome = outcome;
  row.reason = "it failed";
  return row;
}

TrialRow slower(int tile, int64_t created_ms) {
  TrialRow row = at(winner(0, tile, 300), created_ms);
  row.ratio = 0.8;
  row.ratio_lo = 0.7;
  row.ratio_hi = 0.9;
  row.chosen = false;
  return row;
}

std::optional<std::string> taken(Database& db, const ToolRow& by = tool(), const TargetRow& on = target()) {
  const auto best = value(db.best(matmul(), on, by));
  return best ? std::optional(best->schedule_json) : std::nullopt;
}

}  // namespace

TEST_CASE("a schedule that failed under this tool on this target is not taken, by whatever session") {
  const std::string outcome =
      GENERATE(as<std::string>(), "wrong", "crash", "compile-error", "run-error", "timeout", "out-of-memory");
  Folder folder;
  Database db = open(folder.file());
  tune(db, {winner(0, 8, 100)}, tool("old"));
  tune(db, {winner(0, 16, 90)}, tool("old"), 2'000);
  CHECK(taken(db) == R"({"tile":16})");
  tune(db, {fault(16, outcome, 9'000)}, tool(), 9'000);
  CHECK(taken(db) == R"({"tile":8})");
  CHECK(taken(db, tool("old")) == R"({"tile":16})");  // what another tool cannot do says nothing of this one
  const auto why = value(refutation({&db}, matmul(), target(), tool(), winner(0, 16, 1).schedule_id));
  REQUIRE(why.has_value());
  CHECK(why->trial.outcome == outcome);
  CHECK_FALSE(value(refutation({&db}, matmul(), target(), tool(), winner(0, 8, 1).schedule_id)).has_value());
  const auto faults = value(db.faults());
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].trial.trial.schedule_json == R"({"tile":16})");
  CHECK(faults[0].tool.tile_tune == "0.1.0");
  CHECK(faults[0].seed == session().seed);
  CHECK(value(db.faults("conv")).empty());
}

TEST_CASE("a schedule found slower than the default is not taken until a later final confirms it") {
  Folder folder;
  Database db = open(folder.file());
  tune(db, {winner(0, 8, 100)}, tool("old"));
  tune(db, {slower(8, 5'000)}, tool(), 5'000, kRecheckStrategy);
  CHECK_FALSE(taken(db).has_value());
  tune(db, {at(winner(0, 8, 100), 7'000)}, tool(), 7'000, kRecheckStrategy);
  CHECK(taken(db) == R"({"tile":8})");
  CHECK(value(db.best(matmul(), target(), tool()))->rechecked);
  CHECK_FALSE(value(db.best(matmul(), target(), tool("old")))->rechecked);
}

TEST_CASE("a disagreement between slow, duplicate and ok trials of a search refutes nothing") {
  Folder folder;
  Database db = open(folder.file());
  tune(db, {winner(0, 8, 100)});
  for (const char* outcome : {"slow", "duplicate", "ok"}) tune(db, {fault(8, outcome, 9'000)}, tool(), 9'000);
  CHECK(taken(db) == R"({"tile":8})");
}

TEST_CASE("a damaged refutation refutes nothing, and is named") {
  Folder folder;
  {
    Database db = open(folder.file());
    tune(db, {winner(0, 8, 100)}, tool("old"));
    tune(db, {fault(8, "crash", 9'000)}, tool(), 9'000);
  }
  sql(folder.file(), "UPDATE trial SET outcome = 'wrong' WHERE outcome = 'crash'");
  Database db = open(folder.file(), Mode::ReadOnly);
  CHECK(taken(db) == R"({"tile":8})");
  CHECK(db.damaged_records().size() == 1);
}

TEST_CASE("a session that rechecked is never taken up by a tuner") {
  Folder folder;
  Database db = open(folder.file());
  SessionRow row = session();
  row.strategy = kRecheckStrategy;
  const auto run = value(db.begin_session(matmul(), target(), tool(), row));
  value(db.append_trial(run, trial(0)));
  value(db.finish_session(run, "aborted"));
  CHECK_FALSE(value(db.unfinished_session(matmul(), target(), tool())).has_value());
}

TEST_CASE("stacked databases: the least stale record, then the first; what one refutes no other brings back") {
  Folder folder;
  std::vector<Database> stack;
  for (const char* name : {"own.db", "team.db", "vendor.db"}) stack.push_back(open(folder.file(name)));
  const auto best = [&] { return value(best_of(stack, matmul(), target(), tool())); };
  CHECK_FALSE(best().has_value());
  tune(stack[2], {winner(0, 64, 100)}, tool(), 1'000, "evolve", matmul(), target(2, "Zen 4"));
  CHECK(best()->schedule_json == R"({"tile":64})");
  CHECK(staleness(*best()) == 2);
  tune(stack[0], {winner(0, 8, 100)}, tool("old"));
  CHECK(best()->schedule_json == R"({"tile":8})");
  CHECK(staleness(*best()) == 1);
  tune(stack[2], {winner(0, 32, 100)});
  CHECK(best()->schedule_json == R"({"tile":32})");
  CHECK(staleness(*best()) == 0);
  tune(stack[1], {winner(0, 16, 100)});
  CHECK(best()->schedule_json == R"({"tile":16})");  // of two as good, the one further up
  tune(stack[0], {fault(16, "wrong", 9'000)}, tool(), 9'000);
  CHECK(best()->schedule_json == R"({"tile":32})");
  tune(stack[0], {fault(32, "crash", 9'000)}, tool(), 9'500);
  CHECK(best()->schedule_json == R"({"tile":8})");
}

TEST_CASE("stacked databases: the latest word on a schedule decides, in whatever file it is") {
  Folder folder;
  const TrialRow failed = fault(8, "timeout", 5'000), confirmed = at(winner(0, 8, 100), 7'000);
  const auto best = [&](const std::string& name, std::vector<std::vector<TrialRow>> files) {
    std::vector<Database> stack;
    Database merged = open(folder.file(name + "merged.db"));
    for (size_t i = 0; i < files.size(); ++i) {
      stack.push_back(open(folder.file(name + std::to_string(i))));
      for (const auto& row : files[i]) tune(stack.back(), {row}, tool(), row.created_ms, kRecheckStrategy);
      value(merged.absorb([&](const RecordVisitor& visitor) { return stack.back().each_record(visitor); }));
    }
    const auto found = value(best_of(stack, matmul(), target(), tool()));
    CHECK(found.has_value() == taken(merged).has_value());  // as if they were one
    return found ? found->schedule_json : "";
  };
  CHECK(best("team", {{confirmed}, {failed}}) == R"({"tile":8})");
  CHECK(best("own", {{failed}, {confirmed}}) == R"({"tile":8})");
  CHECK(best("same", {{failed, confirmed}, {at(winner(0, 8, 100), 1'000)}}) == R"({"tile":8})");
  CHECK(best("later", {{at(winner(0, 8, 100), 3'000)}, {failed}}).empty());
  CHECK(best("slow", {{at(winner(0, 8, 100), 3'000)}, {slower(8, 5'000)}}).empty());
}

TEST_CASE("relatives are the best of the same family, layout, instruction set and threads at other sizes") {
  Folder folder;
  Database db = open(folder.file());
  const auto at_size = [](const std::string& size) {
    ProgramRow row = matmul();
    row.content_hash = tile_tune::base::sha256_hex("matmul " + size);
    row.sizes_json = "{\"M\":" + size + "}";
    return row;
  };
  ProgramRow other_family = at_size("7");
  other_family.family_hash = std::string(64, 'f');
  ProgramRow other_layout = at_size("8");
  other_layout.layout = "rrc";
  tune(db, {winner(0, 8, 100)});
  tune(db, {winner(0, 16, 100)}, tool(), 1'000, "evolve", at_size("64"));
  tune(db, {winner(0, 32, 100)}, tool("old"), 1'000, "evolve", at_size("100"));
  tune(db, {trial(0, 64)}, tool(), 1'000, "evolve", at_size("200"));  // nothing chosen
  tune(db, {winner(0, 128, 100)}, tool(), 1'000, "evolve", at_size("300"), target(1));
  tune(db, {winner(0, 256, 100)}, tool(), 1'000, "evolve", other_family);
  tune(db, {winner(0, 512, 100)}, tool(), 1'000, "evolve", other_layout);
  const auto found = [&] {
    std::set<std::string> schedules;
    for (const auto& row : value(db.relatives(matmul(), target(), tool()))) schedules.insert(row.schedule_json);
    return schedules;
  };
  CHECK(found() == std::set<std::string>{R"({"tile":16})", R"({"tile":32})"});
  tune(db, {fault(16, "crash", 9'000)}, tool(), 9'000, "evolve", at_size("64"));
  CHECK(found() == std::set<std::string>{R"({"tile":32})"});
}

TEST_CASE("families: one program of each family and layout of which something was chosen") {
  Folder folder;
  Database db = open(folder.file());
  ProgramRow other = matmul();
  other.content_hash = tile_tune::base::sha256_hex("matmul of doubles");
  other.family_hash = std::string(64, 'f');
  ProgramRow larger = matmul();
  larger.content_hash = tile_tune::base::sha256_hex("larger");
  ProgramRow columns = larger;
  columns.layout = "col";
  ProgramRow untuned = other;
  untuned.family_hash = std::string(64, 'e');
  untuned.content_hash = tile_tune::base::sha256_hex("untuned");
  CHECK(value(db.families()).empty());
  tune(db, {winner(0, 8, 100)});
  tune(db, {winner(0, 8, 100)}, tool(), 1'000, "evolve", larger);
  tune(db, {winner(0, 8, 100)}, tool("old"), 1'000, "evolve", other, target(1));
  tune(db, {winner(0, 8, 100)}, tool(), 1'000, "evolve", columns);
  tune(db, {trial(0, 8)}, tool(), 1'000, "evolve", untuned);
  std::set<std::string> found;
  for (const auto& row : value(db.families())) found.insert(row.family_hash.substr(0, 8) + " " + row.layout);
  const std::string family = matmul().family_hash.substr(0, 8);
  CHECK(found == std::set<std::string>{family + " row", family + " col", "ffffffff row"});
}

TEST_CASE("pruning keeps what was chosen, finals, defaults, faults, the fastest and a sample, and shrinks the file") {
  Folder folder;
  std::vector<TrialRow> trials;
  for (int i = 0; i < 2'000; ++i) {
    TrialRow row = trial(i, i);
    row.ratio = i / 1'000.0;
    if (i == 0) row.origin = "default";
    if (i == 1) row.outcome = "crash";
    if (i % 2 == 1 && i > 1) row.outcome = "slow";
    trials.push_back(row);
  }
  trials.push_back(winner(2'000, 3, 100));  // schedule 3 was slow in the search
  TrialRow second = winner(2'001, 5, 120);
  second.chosen = false;
  trials.push_back(second);
  Database db = open(folder.file());
  tune(db, trials, tool(), 1'000);
  tune(db, {trial(0, 7), trial(1, 9), trial(2, 11)}, tool(), 50'000);  // too young
  const PruneRules rules{.older_than_ms = 20'000, .keep_fastest = 4, .keep_share = 8};
  const auto pruned = value(db.prune(rules));
  CHECK(pruned.bytes_after < pruned.bytes_before / 2);
  const auto kept = value(db.trials_of(matmul(), target(), tool()));
  CHECK(static_cast<int>(kept.size()) == 2'005 - pruned.trials);
  CHECK(kept.size() > 150);  // 1994 / 8 = 249 of the sample, standard deviation 15
  CHECK(kept.size() < 350);
  std::set<int> first;
  for (const auto& row : kept)
    if (row.trial.created_ms >= 2'000 && row.session == kept[0].session) first.insert(row.trial.sequence);
  for (const int sequence : {0, 1, 2'000, 2'001, 1'998, 1'996, 1'994, 1'992}) CHECK(first.contains(sequence));
  CHECK(taken(db) == R"({"tile":3})");
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM schedule") <= static_cast<int64_t>(kept.size()));
  CHECK(value(db.prune(rules)).trials == 0);  // once is enough
  CHECK(db.damaged_records().empty());
  Database reader = open(folder.file(), Mode::ReadOnly);
  CHECK_FALSE(reader.prune(rules).has_value());
}

TEST_CASE("pruning thins sessions that were broken off, and who takes one up counts on from its last trial") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session(1'000)));
  const auto at_work = value(db.begin_session(matmul(), target(), tool(), session(1'000)));
  for (int i = 0; i < 100; ++i) value(db.append_trial(run, trial(i, i)));
  for (int i = 0; i < 100; ++i) value(db.append_trial(at_work, trial(i, i)));
  value(db.finish_session(run, "aborted"));
  const auto pruned = value(db.prune({.older_than_ms = 20'000, .keep_fastest = 4, .keep_share = 8}));
  CHECK(pruned.trials > 50);
  CHECK(value(db.trials_of(matmul(), target(), tool(), at_work)).size() == 100);
  CHECK(value(db.unfinished_session(matmul(), target(), tool()))->next_sequence == 100);
}
