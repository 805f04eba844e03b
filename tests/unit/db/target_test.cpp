// Targets in the database: names of ours in the file, ids of the words of earlier versions.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "db/exchange.h"
#include "db/former_target.h"
#include "db/identity.h"
#include "db/json_lines.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune;
using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

const std::string kText = "x86-64-linux-tune_znver4-avx-avx2-avx512-avx512_zen4-f16c-fma-sse41-strict_float";
const std::string kModel = "AMD EPYC 9R14";
const std::string kFacts =
    R"({"cpu_model":"AMD EPYC 9R14","halide":"x86-64-linux-tune_znver4-avx-avx2-avx512-avx512_zen4-f16c-fma-sse41-strict_float","l1_bytes":32768,"l2_bytes":1048576,"l3_bytes":33554432,"threads":2,"vector_bytes":64,"vector_registers":32})";
/// Of kText, kModel, kFacts and two threads, as versions 1 and 2 computed it.
const std::string kId = "70fb18e3bd21d99c8e3d4f24af0774d7c40c34fae86f69e066c7390925879f5f";

codegen::Target machine() {
  codegen::Target target = value(codegen::parse_target(kText));
  target.cpu_model = kModel;
  target.threads = 2;
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

/// A file of schema version 2 with one more target, as version 2 stored it, whose id is `id`.
void restore_with_target(const std::filesystem::path& path, const TargetWords& words, const std::string& id) {
  std::ostringstream dump;
  dump << std::ifstream(TILE_TUNE_SOURCE_DIR "/tests/unit/db/data/version_2.sql").rdbuf();
  sql(path, dump.str());
  const auto quoted = [](const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
    return result + "'";
  };
  sql(path, fmt::format("INSERT INTO target(id, halide, cpu_model, features, threads) VALUES (x'{}', {}, {}, {}, {})",
                        id, quoted(words.text), quoted(words.cpu_model), quoted(words.facts), words.threads));
}

std::vector<TargetRow> targets_of(Database& database) {
  std::vector<TargetRow> targets;
  value(database.each_record([&](const Record& record) -> Result<void> {
    if (const auto* target = std::get_if<TargetRow>(&record.content)) {
      CHECK(target_id(*target) == record.digest);
      targets.push_back(*target);
    }
    return {};
  }));
  return targets;
}

std::string text_in(const std::filesystem::path& path, const std::string& column) {
  const std::string where = fmt::format("FROM target WHERE id = x'{}'", kId);
  std::string text;
  for (int64_t at = 1, size = sql_number(path, fmt::format("SELECT length({}) {}", column, where)); at <= size; ++at)
    text += static_cast<char>(sql_number(path, fmt::format("SELECT unicode(substr({}, {}, 1)) {}", column, at, where)));
  return text;
}

std::string line_of(const TargetRow& row) { return to_line({target_id(row), row}); }

TargetRow read_back(const std::string& line) {
  const Record record = value(record_from_line(line));
  const auto& row = std::get<TargetRow>(record.content);
  CHECK(target_id(row) == record.digest);
  return row;
}

}  // namespace

TEST_CASE("a target keeps the id that versions 1 and 2 gave it") {
  CHECK(target_id({.machine = machine()}) == kId);
  const TargetWords words = words_of({.machine = machine()});
  CHECK(words.text == kText);
  CHECK(words.cpu_model == kModel);
  CHECK(words.facts == kFacts);
  CHECK(target_id(former_target()) == "1dbf1e82562f61bae314489fde7ab6e1e1690e4872d9f5d34a53bfe805452e01");
}

TEST_CASE("a stored target becomes names and figures in columns of their own") {
  Folder folder;
  restore_with_target(folder.file(), {kText, kModel, kFacts, 2}, kId);
  Database db = open(folder.file());
  const auto column = [&](const std::string& name) { return text_in(folder.file(), name); };
  const auto number = [&](const std::string& name) {
    return sql_number(folder.file(), fmt::format("SELECT {} FROM target WHERE id = x'{}'", name, kId));
  };
  CHECK(column("architecture") == "x86-64");
  CHECK(column("os") == "linux");
  CHECK(column("features") == "avx avx2 avx512 avx512_zen4 f16c fma sse41");
  CHECK(column("device") == "cpu");
  CHECK(column("tuned_for") == "znver4");
  CHECK(column("cpu_model") == kModel);
  CHECK(number("deterministic") == 1);
  CHECK(number("scalable_bits") == 0);
  CHECK(number("threads") == 2);
  CHECK(number("vector_bytes") == 64);
  CHECK(number("vector_registers") == 32);
  CHECK(number("l1_bytes") == 32 << 10);
  CHECK(number("l2_bytes") == 1 << 20);
  CHECK(number("l3_bytes") == 32 << 20);
  CHECK(number("former_text IS NULL AND former_facts IS NULL") == 1);
  bool found = false;
  for (const TargetRow& row : targets_of(db)) found = found || row.machine == machine();
  CHECK(found);
  CHECK(db.damaged_records().empty());
}

TEST_CASE("what a fresh file stores of a target is what an upgraded one has") {
  Folder folder;
  restore_with_target(folder.file("old.db"), {kText, kModel, kFacts, 2}, kId);
  open(folder.file("old.db"));
  {
    Database fresh = open(folder.file("fresh.db"));
    value(fresh.begin_session(matmul(), {.machine = machine()}, tool(), session()));
  }
  sql(folder.file("fresh.db"), fmt::format("ATTACH '{}' AS old; CREATE TABLE both AS SELECT * FROM main.target "
                                           "INTERSECT SELECT * FROM old.target",
                                           folder.file("old.db").string()));
  CHECK(sql_number(folder.file("fresh.db"), "SELECT count(*) FROM both") == 1);
  sql(folder.file("fresh.db"), "DROP TABLE both");
  CHECK(sql_number(folder.file("fresh.db"), "SELECT count(*) FROM target") == 1);
  Database old = open(folder.file("old.db"));
  Database fresh = open(folder.file("fresh.db"));
  const auto taken = value(fresh.absorb([&](const RecordVisitor& visitor) { return old.each_record(visitor); }));
  CHECK(taken.known == 3);  // the program, the target and the tool
}

TEST_CASE("words of a stored target that this version does not know are kept, and so is its id") {
  const auto words = GENERATE(values<TargetWords>({
      {"x86-64-linux-avx-avx2-fma", "Zen 5", R"({"l1_bytes":49152})", 2},  // figures of another kind
      {"x86-64-linux-avx2-avx", "Zen 5", "{}", 2},                         // another order
      {"x86-64-linux-warp9", "", "", 1},
      {"", "", "[[[[", 1},
      {"moon-64-linux", "it's", "{\"halide\":\"moon-64-linux\"}", 3},
      {kText, kModel, kFacts, 3},  // threads that the figures contradict
      {kText, "Another", kFacts, 2},
  }));
  INFO(words.text << " " << words.facts);
  const TargetRow row = target_row(words);
  CHECK(row.text() == words.text);
  CHECK(row.machine.threads == words.threads);
  CHECK(row.machine.cpu_model == words.cpu_model);
  const TargetWords same = words_of(row);
  CHECK(std::tie(same.text, same.cpu_model, same.facts, same.threads) ==
        std::tie(words.text, words.cpu_model, words.facts, words.threads));
  Folder folder;
  restore_with_target(folder.file(), words, target_id(row));
  Database db = open(folder.file());
  const auto targets = targets_of(db);
  CHECK(db.damaged_records().empty());
  CHECK(std::count_if(targets.begin(), targets.end(),
                      [&](const TargetRow& one) { return target_id(one) == target_id(row); }) == 1);
  // What is known of it is found under it, and under nothing else.
  const auto run = value(db.begin_session(matmul(), row, tool("9"), session()));
  value(db.append_trial(run, winner(0, 77, 5)));
  value(db.finish_session(run, "done"));
  CHECK(value(db.best(matmul(), row, tool("9")))->schedule_json == R"({"tile":77})");
  CHECK_FALSE(
      value(db.best(matmul(), target_row({"sun-64-linux", words.cpu_model, words.facts, words.threads}), tool("9")))
          .has_value());
}

TEST_CASE("a damaged target of an earlier version is damaged afterwards") {
  Folder folder;
  restore_with_target(folder.file(), {kText, "Another", kFacts, 2}, kId);
  Database db = open(folder.file());
  for (const TargetRow& row : targets_of(db)) CHECK(target_id(row) != kId);
  CHECK(db.damaged_records() == std::vector<std::string>{"target " + kId});
}

TEST_CASE("a name that this version does not know is a damaged record, not a crash") {
  const std::string change =
      GENERATE(as<std::string>(), "features = 'avx avx9'", "architecture = 'x86'", "architecture = 'x86-16'", "os = ''",
               "device = 'abacus'", "tuned_for = 'i486'", "features = features || ' f16c'", "deterministic = 1",
               "scalable_bits = 8", "former_facts = '{}'", "former_text = 'x86-64-linux'",
               "cpu_model = CAST(x'FF' AS TEXT)", "cpu_model = char(0)");
  INFO(change);
  Folder folder;
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, winner(0, 8, 100)));
    value(db.finish_session(run, "done"));
  }
  sql(folder.file(), "UPDATE target SET " + change);
  Database db = open(folder.file());
  CHECK(targets_of(db).empty());
  CHECK(db.damaged_records() == std::vector<std::string>{"target " + target_id(target())});
}

TEST_CASE("a target's line has names of its own, and that of earlier exports is read") {
  const TargetRow row{.machine = machine()};
  const auto json = nlohmann::json::parse(line_of(row));
  CHECK(json["digest"] == kId);
  CHECK(json["architecture"] == "x86-64");
  CHECK(json["features"] == "avx avx2 avx512 avx512_zen4 f16c fma sse41");
  CHECK(json["deterministic"] == true);
  CHECK_FALSE(json.contains("halide"));
  CHECK(read_back(line_of(row)).machine == machine());
  const nlohmann::json former = {{"kind", "target"},    {"digest", kId}, {"halide", kText},
                                 {"cpu_model", kModel}, {"threads", 2},  {"features", nlohmann::json::parse(kFacts)}};
  CHECK(read_back(former.dump()).machine == machine());
  CHECK(line_of(read_back(line_of(former_target()))) == line_of(former_target()));
  CHECK(read_back(line_of(former_target())).former_facts == former_target().former_facts);
  auto unknown = json;
  unknown["features"] = "avx avx9";
  const auto refused = record_from_line(unknown.dump());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the record cannot be read: it is of a target that is not known");
}

TEST_CASE("an export of format 1 is taken in with every record") {
  std::istringstream lines(R"({"kind":"tile-tune-records","format":1})"
                           "\n" +
                           nlohmann::json{{"kind", "target"},
                                          {"digest", kId},
                                          {"halide", kText},
                                          {"cpu_model", kModel},
                                          {"threads", 2},
                                          {"features", nlohmann::json::parse(kFacts)}}
                               .dump() +
                           "\n");
  Folder folder;
  Database db = open(folder.file());
  const auto source = value(records_of(lines, "old.jsonl"));
  const auto taken = value(db.absorb(source));
  CHECK(taken.refused.empty());
  CHECK(taken.added == 1);
  REQUIRE(targets_of(db).size() == 1);
  CHECK(targets_of(db)[0].machine == machine());
}
