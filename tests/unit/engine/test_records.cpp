#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "engine/records/workload.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
using namespace tile_tune::engine;

TEST_CASE("a trial survives the database's row") {
  search::Trial trial;
  trial.sequence = 7;
  trial.generation = 2;
  trial.origin = "mutation";
  trial.parents = {"aa", "bb"};
  trial.schedule.stages.resize(1);
  trial.schedule.stages[0].nest().tiles = {{8, 4}};
  trial.schedule.stages[0].nest().order = {{0}, {0}};
  trial.measurement.outcome = search::Outcome::Slow;
  trial.measurement.reason = "slow";
  trial.measurement.samples_ns = {1.5, 2.5};
  trial.measurement.median_ns = 2;
  trial.measurement.ratio = 0.5;
  trial.measurement.disturbed = true;
  const auto row = trial_row(trial);
  CHECK(row.outcome == "slow");
  CHECK(row.schedule_id == codegen::schedule_id(trial.schedule));
  const auto back = trial_from_row(row);
  REQUIRE(back);
  CHECK(back->schedule == trial.schedule);
  CHECK(back->parents == trial.parents);
  CHECK(back->measurement.samples_ns == trial.measurement.samples_ns);
  CHECK(back->measurement.outcome == search::Outcome::Slow);
  CHECK(back->measurement.disturbed);
  auto strange = row;
  strange.outcome = "splendid";
  CHECK(!trial_from_row(strange));
}

TEST_CASE("a finalist that was never timed is stored without a time or a ratio, and comes back as not timed") {
  search::Trial trial;
  trial.origin = "final";
  const auto row = trial_row(trial);
  CHECK(row.outcome == "ok");
  for (const double figure : {row.median_ns, row.ratio, row.ratio_lo, row.ratio_hi, row.peak_fraction,
                              row.peak_fraction_lo, row.peak_fraction_hi})
    CHECK(std::isnan(figure));
  const auto back = trial_from_row(row);
  REQUIRE(back);
  CHECK(back->measurement.ratio == 0);
  CHECK(back->measurement.median_ns == 0);
  CHECK(back->measurement.ratio_hi == 0);
  auto older = row;  // as versions before stored it
  older.median_ns = older.ratio = older.ratio_lo = older.ratio_hi = 0;
  CHECK(trial_from_row(older)->measurement.ratio == 0);
}

TEST_CASE("stored texts that are no JSON are shown as they are") {
  CHECK(json_of_text(R"({"M":3})") == nlohmann::json{{"M", 3}});
  CHECK(json_of_text("") == "");
  CHECK(json_of_text("{oops").dump() == R"("{oops")");
}

TEST_CASE("stored texts that nest too deep for the stack are no JSON") {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(json_of_text(nested(100)).is_array());
  for (const size_t levels : {600, 1'000'000}) {
    CHECK(json_of_text(nested(levels)) == nested(levels));
    CHECK_FALSE(json_of_record("{\"stages\":" + nested(levels) + "}"));
    CHECK(sizes_text("{\"N\":" + nested(levels) + "}").size() == 80);
  }
  CHECK(sizes_text("{\"N\":3,\"A\":[[1]]}") == "N=3 A=[[1]]");
}

TEST_CASE("a stored program is what its hash says, of tensors that can be, or an error") {
  const auto parsed = tc::parse("def f(float(N) A) -> (C) { C(i) = A(i) }", "test.tc");
  REQUIRE(parsed);
  const LoadedProgram loaded{parsed->programs.front(), "tc", "text"};
  const auto row = make_workload(loaded, *ir::bind(loaded.program, {{"N", 40}}), {{"N", 40}}).row;
  CHECK(program_of(row).has_value());
  const auto code_of = [&](const std::string& from, const std::string& to) {
    auto other = row;
    other.canonical_json = std::regex_replace(row.canonical_json, std::regex(from), to);
    const auto program = program_of(other);
    return program ? "" : program.error().code;
  };
  CHECK(code_of("\\b40\\b", "41") == "bad-record");
  CHECK(code_of("\"extents\":\\[40\\]", "\"extents\":[4611686018427387904]") == "tensor-too-large");
  CHECK(code_of("^.*$", "{}") != "");
}

TEST_CASE("a workload's row says in which file a statement stood, not in which folder") {
  const auto row_of = [](const char* file) {
    const auto parsed = tc::parse("def f(float(N) A) -> (C) { C(i) = A(i) }", file);
    REQUIRE(parsed);
    const LoadedProgram loaded{parsed->programs.front(), "tc", "text"};
    const ir::Sizes sizes{{"N", 40}};
    return make_workload(loaded, ir::bind(loaded.program, sizes).value(), sizes).row;
  };
  const auto here = row_of("f.tc"), elsewhere = row_of("/home/ann/programs/f.tc");
  CHECK(here.canonical_json == elsewhere.canonical_json);
  CHECK(program_of(elsewhere)->statements.front().place->file == "f.tc");
}

TEST_CASE("a workload's row names what the database is asked by") {
  const auto parsed = tc::parse("def f(int32(N,M) A, float(M) B) -> (o) { o(i) +=! A(i,j) * B(j) }", "test.tc");
  REQUIRE(parsed);
  const LoadedProgram loaded{parsed->programs.front(), "tc", "text"};
  const ir::Sizes sizes{{"M", 3}, {"N", 2}};
  auto bound = ir::bind(loaded.program, sizes);
  REQUIRE(bound);
  const auto row = make_workload(loaded, *bound, sizes).row;
  CHECK(row.name == "f");
  CHECK(row.sizes_json == R"({"N":2,"M":3})");
  CHECK(sizes_text(row.sizes_json) == "N=2 M=3");
  CHECK(row.dtypes == "i32,f32->f32");
  CHECK(row.layout == "row");
  CHECK(row.bytes == 4.0 * (6 + 3 + 2));
  for (auto& tensor : bound->tensors)
    if (tensor.name == "A") tensor.storage = ir::Storage::col();
  const auto mixed = make_workload(loaded, *bound, sizes).row;
  CHECK(mixed.layout == "crr");
  CHECK(mixed.content_hash == row.content_hash);
  CHECK(constant_names(mixed).empty());
  for (auto& tensor : bound->tensors) tensor.constant = tensor.name == "A";
  const auto constant = make_workload(loaded, *bound, sizes).row;
  CHECK(constant.layout == "Crr");
  CHECK(constant.content_hash == row.content_hash);
  CHECK(constant_names(constant) == std::vector<std::string>{"A"});
  for (auto& tensor : bound->tensors)
    if (tensor.name == "A") tensor.storage = ir::Storage::strided({40, -1});
  const auto strided = make_workload(loaded, *bound, sizes).row;
  CHECK(strided.layout == "S[40,-1]rr");
  CHECK(strided.content_hash == row.content_hash);
}
