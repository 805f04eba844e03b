// Merging databases, and records as text.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <limits>
#include <set>
#include <sstream>

#include "base/sha256.h"
#include "db/json_lines.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;
using tile_tune::Result;

namespace {

std::string exported(Database& db) {
  std::string text = header_line() + "\n";
  value(db.each_record([&](const Record& record) -> Result<void> {
    text += to_line(record) + "\n";
    return {};
  }));
  return text;
}

std::string exported(const std::filesystem::path& path) {
  Database db = open(path, Mode::ReadOnly);
  return exported(db);
}

Absorbed merge(const std::filesystem::path& into, const std::filesystem::path& from) {
  Database target = open(into);
  Database source = open(from, Mode::ReadOnly);
  return value(target.absorb([&](const RecordVisitor& visitor) { return source.each_record(visitor); }));
}

/// A session of two trials and a winner.
void tune(const std::filesystem::path& path, int tile, int64_t created_ms, const ProgramRow& program = matmul()) {
  Database db = open(path);
  const auto run = value(db.begin_session(program, target(), tool(), session(created_ms)));
  value(db.append_trial(run, trial(0, tile)));
  TrialRow bad = trial(1, tile + 1);
  bad.outcome = "crash";
  bad.reason = "killed by signal 11";
  value(db.append_trial(run, bad));
  TrialRow best = winner(2, tile, 100);
  best.created_ms = created_ms + 2;
  value(db.append_trial(run, best));
  value(db.finish_session(run, "done"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("merging is commutative, associative and idempotent") {
  Folder folder;
  tune(folder.file("a.db"), 8, 1'000);
  tune(folder.file("b.db"), 16, 5'000);
  ProgramRow other = matmul();
  other.content_hash = tile_tune::base::sha256_hex("other");
  tune(folder.file("c.db"), 32, 3'000, other);
  const auto merged = [&](const std::vector<std::string>& order) {
    std::string name = "merged";
    for (const auto& one : order) name += one;
    for (const auto& one : order) merge(folder.file(name), folder.file(one + ".db"));
    return exported(folder.file(name));
  };
  const std::string abc = merged({"a", "b", "c"});
  CHECK(abc == merged({"c", "b", "a"}));
  CHECK(abc == merged({"b", "a", "b", "c", "c", "a"}));
  const auto again = merge(folder.file("mergedabc"), folder.file("a.db"));
  CHECK(again.added == 0);
  CHECK(again.known == 3 + 1 + 2 + 3 + 1);  // program, target, tool; session; schedules; trials; winner
  CHECK(again.conflicts == 0);
  Database db = open(folder.file("mergedabc"), Mode::ReadOnly);
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":16})");  // accepted last
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 6);
}

TEST_CASE("two copies that both went on with one session keep both trials of one number") {
  Folder folder;
  std::string run;
  {
    Database db = open(folder.file("a.db"));
    run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, trial(0)));
    value(db.finish_session(run, "aborted"));
  }
  merge(folder.file("b.db"), folder.file("a.db"));
  for (const auto& [name, tile, same] : {std::tuple{"a.db", 16, 1.0}, std::tuple{"b.db", 32, 2.0}}) {
    Database db = open(folder.file(name));
    value(db.resume_session(run));
    value(db.append_trial(run, trial(1, tile)));  // another schedule
    TrialRow measured = trial(2, 64);             // the same schedule, measured again
    measured.median_ns = same;
    value(db.append_trial(run, measured));
    value(db.finish_session(run, tile == 16 ? "done" : "aborted"));
  }
  merge(folder.file("ab.db"), folder.file("a.db"));
  CHECK(merge(folder.file("ab.db"), folder.file("b.db")).conflicts == 2);
  merge(folder.file("ba.db"), folder.file("b.db"));
  merge(folder.file("ba.db"), folder.file("a.db"));
  CHECK(exported(folder.file("ab.db")) == exported(folder.file("ba.db")));
  Database db = open(folder.file("ab.db"));
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 5);
  CHECK(value(db.show("matmul"))[0].sessions[0].state == "done");
  CHECK(merge(folder.file("ab.db"), folder.file("b.db")).conflicts == 0);
}

TEST_CASE("records come back from text to the last bit, in one order") {
  Folder folder;
  ProgramRow program = matmul();
  program.source = "# \xFF\xFE Latin \xE4\n\"quoted\" \\ \x01 \xC3\xA4";
  program.flops = 0.1 + 0.2;
  program.bytes = std::numeric_limits<double>::quiet_NaN();
  program.sizes_json = R"({"M": 1})";  // not as this writer would write it
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(program, target(), tool(), session()));
    TrialRow row = trial(0);
    row.verify_error = std::numeric_limits<double>::infinity();
    row.median_ns = 5e-324;
    row.reason = R"({"base64":"a trap"})";
    value(db.append_trial(run, row));
    value(db.append_trial(run, winner(1, 32, 0.1)));
    value(db.finish_session(run, "done"));
  }
  const std::string text = exported(folder.file());
  Database copy = open(folder.file("copy.db"));
  const auto taken = value(take_text(copy, text));
  CHECK(taken.refused.empty());
  CHECK(taken.added == 9);
  CHECK(exported(copy) == text);
  CHECK(value(take_text(copy, text)).added == 0);
  CHECK(value(copy.best(program, target(), tool()))->program.source == program.source);
  // One line a record, readable, kinds in the order in which they need each other.
  const auto lines = lines_of(text);
  CHECK(lines.size() == 10);
  CHECK(lines[0] == R"({"kind":"tile-tune-records","format":2})");
  CHECK_THAT(lines[1], Catch::StartsWith(R"({"kind":"program","digest":")"));
  CHECK_THAT(text, Catch::Contains(R"("schedule":{"tile":32})"));
  CHECK_THAT(lines.back(), Catch::StartsWith(R"({"kind":"winner")"));
}

TEST_CASE("a record whose content was changed is refused, and so is what needs it") {
  const auto [from, to, refused] = GENERATE(table<std::string, std::string, size_t>({
      {R"("tile":8})", R"("tile":9})", 3},                    // a schedule, its trial and final, the winner...
      {R"("strategy":"evolve")", R"("strategy":"evil")", 5},  // the session, all trials, the winner
      {R"("outcome":"crash")", R"("outcome":"ok")", 1},       // one trial
      {R"("name":"matmul")", R"("name":"mat")", 6},           // the program and everything
      {R"("accepted_ms":1002)", R"("accepted_ms":253402300800001)", 1},
      {R"("accepted_ms":1002)", R"("accepted_ms":1003)", 1},
  }));
  INFO(from);
  Folder folder;
  tune(folder.file(), 8, 1'000);
  Database copy = open(folder.file("copy.db"));
  const auto taken = value(take_text(copy, replaced(exported(folder.file()), from, to)));
  CHECK(taken.refused.size() == refused + (from.find("tile") != std::string::npos ? 1 : 0));
  CHECK(copy.damaged_records().empty());  // nothing damaged got in
}

TEST_CASE("a forged winner with a proper digest is refused") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  std::string text = exported(folder.file());
  const auto trials = value(open(folder.file(), Mode::ReadOnly).trials_of(matmul(), target(), tool()));
  const auto forge = [&](const std::string& trial, const std::string& workload) {
    const WinnerRow winner{trial, workload, 9'000};
    return to_line({winner_digest(trial, workload, 9'000), winner}) + "\n";
  };
  text += forge(trials[0].id, workload_id(matmul()));          // no final
  text += forge(trials[1].id, workload_id(matmul()));          // a crash
  text += forge(trials[2].id, std::string(64, 'a'));           // of another program
  text += forge(std::string(64, 'b'), workload_id(matmul()));  // of no trial
  Database copy = open(folder.file("copy.db"));
  CHECK(value(take_text(copy, text)).refused.size() == 4);
  CHECK(sql_number(folder.file("copy.db"), "SELECT count(*) FROM winner") == 1);
}

TEST_CASE("what would outlast everything or count as faster than it is, is refused with the reason, and does no harm") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  Database db = open(folder.file());
  const std::string run = value(db.trials_of(matmul(), target(), tool())).front().session;
  const SessionKey key{program_id(matmul()), target_id(target()), tool_id(tool())};
  const auto told = [&](const TrialRow& row, int64_t accepted_ms) {
    const std::string id = trial_id(key, run, row);
    const WinnerRow winner{id, workload_id(matmul()), accepted_ms};
    return value(db.absorb([&](const RecordVisitor& visitor) -> Result<void> {
             auto done = visitor({row.schedule_id, ScheduleRow{row.schedule_id, row.schedule_json}});
             if (done) done = visitor({id, TrialRecord{run, row}});
             if (done) done = visitor({winner_digest(id, winner.workload, accepted_ms), winner});
             return done;
           }))
        .refused;
  };
  const auto refused_for = [](const std::string& reason) { return Catch::Contains(reason); };
  const int64_t now = std::time(nullptr) * int64_t{1'000};
  const int64_t day = 86'400'000;
  TrialRow row = winner(7, 64, 50);
  for (const int64_t late : {now + 2 * day, int64_t{253'402'300'800'000}, std::numeric_limits<int64_t>::max()}) {
    const auto refused = told(row, late);
    REQUIRE(refused.size() == 1);
    CHECK_THAT(refused[0].why, refused_for("days ahead of this machine's clock"));
  }
  row.created_ms = now + 2 * day;
  CHECK_THAT(told(row, now).at(0).why, refused_for("days ahead of this machine's clock"));
  row = winner(7, 64, 50);
  row.sequence = 2'147'483'646;
  CHECK_THAT(told(row, now).at(0).why, refused_for("which is not between 0 and 1000000000"));
  row = winner(7, 64, 50);
  row.generation = 2'147'483'646;
  CHECK_THAT(told(row, now).at(0).why, refused_for("which is not between 0 and 1000000000"));
  row = winner(7, 64, 50);
  row.ratio = 0.01, row.ratio_lo = row.ratio_hi = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(told(row, now).at(0).why, refused_for("cannot be the best"));
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":8})");
  CHECK(told(winner(8, 128, 50), now + day / 2).empty());  // clocks differ
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":128})");
}

TEST_CASE("of what is in use a copy answers as the whole does, with nothing else in it") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  tune(folder.file(), 16, 5'000);  // the winner now
  ProgramRow vain = matmul();
  vain.content_hash = tile_tune::base::sha256_hex("vain");
  {
    Database db = open(folder.file());
    const auto other = value(db.begin_session(matmul(), target(1), tool(), session(6'000)));
    value(db.append_trial(other, winner(0, 32, 100)));
    value(db.finish_session(other, "done"));
    const auto nothing = value(db.begin_session(vain, target(), tool("0.0.1"), session(7'000)));
    value(db.append_trial(nothing, trial(0, 99)));
    value(db.finish_session(nothing, "done"));
    SessionRow family = session(8'000);
    family.strategy = kSizedStrategy;
    family.options_json = R"({"members":[1,2]})";
    const auto range = value(db.begin_session(vain, target(), tool("0.0.2"), family));
    value(db.finish_session(range, "done"));
  }
  Database whole = open(folder.file(), Mode::ReadOnly);
  Database copy = open(folder.file("copy.db"));
  const auto taken =
      value(copy.absorb([&](const RecordVisitor& visitor) { return whole.each_record_in_use(visitor); }));
  CHECK(taken.refused.empty());
  const auto counts = value(copy.counts());
  CHECK(counts.programs == 2);  // that of the range, too
  CHECK(counts.targets == 2);
  CHECK(counts.tools == 2);
  CHECK(counts.sessions == 3);
  CHECK(counts.schedules == 2);
  CHECK(counts.trials == 2);
  for (const int threads : {1, 2}) {
    const auto best = value(whole.best(matmul(), target(threads), tool()));
    REQUIRE(best);
    CHECK(value(copy.best(matmul(), target(threads), tool()))->trial_id == best->trial_id);
  }
  CHECK(value(copy.done_sessions(kSizedStrategy)).size() == 1);
}

TEST_CASE("what was refuted since is not in use") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  tune(folder.file(), 16, 5'000);
  {
    Database db = open(folder.file());
    SessionRow check = session(9'000);
    check.strategy = kRecheckStrategy;
    const auto run = value(db.begin_session(matmul(), target(), tool(), check));
    TrialRow wrong = trial(0, 16);
    wrong.outcome = "wrong";
    wrong.created_ms = 9'001;
    value(db.append_trial(run, wrong));
    value(db.finish_session(run, "done"));
  }
  Database db = open(folder.file(), Mode::ReadOnly);
  std::vector<std::string> schedules;
  value(db.each_record_in_use([&](const Record& record) -> Result<void> {
    if (const auto* schedule = std::get_if<ScheduleRow>(&record.content)) schedules.push_back(schedule->json);
    return {};
  }));
  CHECK(schedules == std::vector<std::string>{R"({"tile":8})"});
}

TEST_CASE("taking in an intact copy mends what is damaged") {
  const std::string change =
      GENERATE(as<std::string>(), "UPDATE program SET name = 'x'", "UPDATE program SET workload = zeroblob(32)",
               "UPDATE target SET threads = 3", "UPDATE tool SET halide = 'x'", "UPDATE session SET budget = '{}'",
               "UPDATE schedule SET json = '{}' WHERE json = '{\"tile\":8}'",
               "UPDATE trial SET elapsed_s = 77 WHERE sequence = 0", "UPDATE winner SET accepted = accepted + 1",
               "UPDATE winner SET workload = zeroblob(32)", "DELETE FROM session", "DELETE FROM trial");
  INFO(change);
  Folder folder;
  tune(folder.file("a.db"), 8, 1'000);
  const std::string whole = exported(folder.file("a.db"));
  sql(folder.file("a.db"), "PRAGMA foreign_keys = OFF; " + change);
  CHECK(exported(folder.file("a.db")) != whole);
  {
    Database db = open(folder.file("a.db"));
    const auto taken = value(take_text(db, whole));
    CHECK(taken.refused.empty());
    CHECK(taken.added > 0);
  }
  CHECK(exported(folder.file("a.db")) == whole);
  Database db = open(folder.file("a.db"));
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":8})");
  CHECK(db.damaged_records().empty());
  CHECK(value(take_text(db, whole)).added == 0);
}

TEST_CASE("files that are no records are named with their line, and nothing of them is taken in") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  const std::string text = exported(folder.file());
  const std::string head = header_line() + "\n";
  const auto bad = [&](const std::string& file, const std::string& expected) {
    INFO(file.substr(0, 200));
    INFO(expected);
    Database copy = open(folder.file("copy.db"));
    const auto taken = take_text(copy, file);
    REQUIRE_FALSE(taken.has_value());
    CHECK(taken.error().code == "bad-record-file");
    CHECK_THAT(taken.error().message, Catch::Contains(expected));
    CHECK(exported(copy) == head);
  };
  bad("", "shared.jsonl is empty");
  bad("\n", "holds no tuning records");
  bad("SQLite format 3", "holds no tuning records");
  bad("{\"kind\":\"program\"}\n", "holds no tuning records");
  bad(R"({"kind":"tile-tune-records","format":3})", "has format 3");
  bad(R"({"kind":"tile-tune-records","format":0})", "has format 0");
  bad(text.substr(0, text.size() - 9), "shared.jsonl:11: the line is no JSON object");
  bad(text + "null\n", "no JSON object");
  bad(head + R"({"kind":"program"})", "\"digest\" is missing");
  bad(head + R"({"kind":"virus","digest":")" + std::string(64, 'a') + "\"}", "virus");
  bad(replaced(text, R"("sequence":0)", R"("sequence":4294967296)"), "\"sequence\" has a wrong value");
  bad(replaced(text, R"("sequence":0)", R"("sequence":0.5)"), "\"sequence\" has a wrong value");
  bad(replaced(text, R"("sequence":0)", R"("sequence":0,"more":1)"), "a field that is not known");
  bad(replaced(text, R"("disturbed":false)", R"("disturbed":0)"), "\"disturbed\" has a wrong value");
  bad(replaced(text, R"("seed":18446744073709551607)", R"("seed":-1)"), "\"seed\" has a wrong value");
  bad(replaced(text, R"("session":")", R"("session":"../../etc/passwd)"), "\"session\" has a wrong value");
  bad(head + std::string(1'000'000, '['), "no JSON object");
  bad(head + R"({"kind":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}", "\"kind\"");
}

TEST_CASE("a merge that is killed at any instant leaves whole records, and is done by doing it again") {
  Folder folder;
  tune(folder.file("a.db"), 8, 1'000);
  constexpr int kTrials = 1'500;  // with their schedules three transactions
  {
    Database db = open(folder.file("b.db"));
    const auto run = value(db.begin_session(matmul(), target(), tool(), session(4'000)));
    const auto stored = [&](const RecordVisitor& visitor) -> Result<void> {
      const SessionKey key{program_id(matmul()), target_id(target()), tool_id(tool())};
      for (int i = 0; i < kTrials; ++i) {
        const TrialRow row = trial(i, 100 + i);
        if (auto done = visitor({row.schedule_id, ScheduleRow{row.schedule_id, row.schedule_json}}); !done) return done;
        if (auto done = visitor({trial_id(key, run, row), TrialRecord{run, row}}); !done) return done;
      }
      return {};
    };
    CHECK(value(db.absorb(stored)).added == 2 * kTrials);
    value(db.finish_session(run, "done"));
  }
  const std::string before = exported(folder.file("a.db"));
  const int killed_after = GENERATE(0, 50, 1'001, 2'500, 100'000);  // records
  const pid_t child = start_child([&] {
    Database into = open(folder.file("a.db"));
    Database from = open(folder.file("b.db"), Mode::ReadOnly);
    int seen = 0;
    value(into.absorb([&](const RecordVisitor& visitor) {
      return from.each_record([&](const Record& record) {
        if (seen++ == killed_after) kill(getpid(), SIGKILL);
        return visitor(record);
      });
    }));
    return 0;
  });
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) == (killed_after < 100'000));
  const std::string after = exported(folder.file("a.db"));
  if (killed_after < 1'000) CHECK(after == before);
  if (killed_after == 2'500) CHECK(after != before);
  {
    Database db = open(folder.file("a.db"));
    CHECK(value(db.trials_of(matmul(), target(), tool())).size() <= kTrials + 3);
    CHECK(value(db.best(matmul(), target(), tool())).has_value());
    CHECK(db.damaged_records().empty());
  }
  CHECK(merge(folder.file("a.db"), folder.file("b.db")).refused.empty());
  Database db = open(folder.file("a.db"));
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == kTrials + 3);
  CHECK(db.damaged_records().empty());
  CHECK(merge(folder.file("a.db"), folder.file("b.db")).added == 0);
}

TEST_CASE("while much is taken in others write") {
  Folder folder;
  Database into = open(folder.file());
  Database tuner = open(folder.file());
  const auto run = value(tuner.begin_session(matmul(), target(), tool(), session()));
  int handed_out = 0, stored = 0;
  const auto many = [&](const RecordVisitor& visitor) -> Result<void> {
    for (; handed_out < 3'500; ++handed_out) {
      const TrialRow row = trial(0, 1'000 + handed_out);
      if (auto done = visitor({row.schedule_id, ScheduleRow{row.schedule_id, row.schedule_json}}); !done) return done;
      // Between any two records: were the lock held throughout, this would wait for ten seconds and fail.
      if (handed_out % 500 == 250) value(tuner.append_trial(run, trial(stored++, 8)));
    }
    return {};
  };
  CHECK(value(into.absorb(many)).added == 3'500);
  CHECK(stored == 7);
  CHECK(value(into.trials_of(matmul(), target(), tool())).size() == 7);
}

TEST_CASE("a disk that fills up in the middle of a merge keeps what fits, and the merge is done by doing it again") {
  Folder folder;
  tune(folder.file("a.db"), 8, 1'000);
  const std::string small = exported(folder.file("a.db"));
  {
    Database db = open(folder.file("b.db"));
    const auto run = value(db.begin_session(matmul(), target(), tool(), session(4'000)));
    for (int i = 0; i < 300; ++i) value(db.append_trial(run, trial(i, 100 + i)));
    value(db.finish_session(run, "done"));
  }
  const int status = in_child([&] {
    Database into = open(folder.file("a.db"));
    Database from = open(folder.file("b.db"), Mode::ReadOnly);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto taken = into.absorb([&](const RecordVisitor& visitor) { return from.each_record(visitor); });
    return !taken && taken.error().code == "disk-full" ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(exported(folder.file("a.db")) == small);
  merge(folder.file("a.db"), folder.file("b.db"));
  Database db = open(folder.file("a.db"));
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 303);
}

TEST_CASE("eight processes merge into one database and tune in it at the same time") {
  Folder folder;
  for (int i = 0; i < 4; ++i) tune(folder.file(fmt::format("{}.db", i)), 8 << i, 1'000 * (i + 1));
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start_child([&, i] {
      if (i < 4) {
        merge(folder.file("all.db"), folder.file(fmt::format("{}.db", i)));
      } else {
        tune(folder.file("all.db"), 8 << i, 1'000 * (i + 1));
      }
      return 0;
    }));
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  Database db = open(folder.file("all.db"));
  CHECK(value(db.list())[0].sessions == 8);
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 24);
  CHECK(sql_number(folder.file("all.db"), "SELECT count(*) FROM winner") == 8);
}

TEST_CASE("a program whose tensors no machine can hold is refused, though its digest is right") {
  Folder folder;
  const auto program = [](const char* extents) {
    ProgramRow row = matmul();
    row.canonical_json = fmt::format(
        R"({{"kind":"program","format":1,"name":"f","sizes":[],"tensors":[{{"name":"A","type":"f32","extents":{},)"
        R"("role":"input","layout":"row"}}],"inputs":[0],"outputs":[],"statements":[]}})",
        extents);
    return row;
  };
  tune(folder.file("a.db"), 8, 1'000, program("[34359738368,68719476736]"));
  const auto taken = merge(folder.file("b.db"), folder.file("a.db"));
  // The program, and the session, trials and winner that refer to it.
  REQUIRE(taken.refused.size() == 6);
  CHECK_THAT(taken.refused[0].text(),
             Catch::StartsWith("program") && Catch::EndsWith("A would not fit a 64-bit address space"));
  CHECK(value(open(folder.file("b.db")).counts()).programs == 0);
  tune(folder.file("c.db"), 8, 1'000, program("[34359738368,1]"));
  CHECK(merge(folder.file("d.db"), folder.file("c.db")).refused.empty());
}

TEST_CASE("damaged records stay behind when a database is merged") {
  Folder folder;
  tune(folder.file("a.db"), 8, 1'000);
  sql(folder.file("a.db"), "UPDATE trial SET median_ns = 1 WHERE sequence = 2");
  Database from = open(folder.file("a.db"), Mode::ReadOnly);
  Database into = open(folder.file("b.db"));
  const auto taken = value(into.absorb([&](const RecordVisitor& visitor) { return from.each_record(visitor); }));
  CHECK(from.damaged_records().size() == 1);
  CHECK(taken.refused.size() == 1);  // the winner without its trial
  CHECK_FALSE(value(into.best(matmul(), target(), tool())).has_value());
}

TEST_CASE("a read-only database takes nothing in") {
  Folder folder;
  tune(folder.file(), 8, 1'000);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto refused = take_text(db, header_line());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == "database-read-only");
}
