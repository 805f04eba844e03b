// Sizes with many values: how they are read, which of them are looked at, and what measured times decide.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/sized/choice.h"
#include "engine/sized/sizes.h"
#include "engine/sized/spelling.h"
#include "engine/sized/tuning.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"

using namespace tile_tune;
using namespace tile_tune::engine;
using codegen::EntrySize;
using nlohmann::json;

namespace {

using Points = std::vector<std::vector<int64_t>>;

const std::vector<EntrySize> kRange = {{"N", 1, 512}};

/// c(i) = a(i) + b(i) for N = 1..512: candidates for tiles of 64 (moved back at the border) and 8 (guarded).
codegen::SizedEntry candidates() {
  const auto parsed = tc::parse("def f(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }", "f.tc");
  codegen::SizedEntry entry{{parsed.value().programs.front(), {}, kRange}, {}, {}, {}};
  entry.runtime = codegen::runtime_sizes_of(entry.program).value();
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  for (const auto& [tile, guarded] : {std::pair<int64_t, bool>{64, false}, {8, true}}) {
    stage.tiles = {{tile}};
    stage.order = {{0}};
    stage.cpu().lanes = 8;
    entry.members.push_back(codegen::member_for_many(entry, {512}, {{stage}}, guarded).value());
  }
  return entry;
}

SizedWorkload workload_of(const std::string& text, const std::string& fixed, const std::vector<EntrySize>& sizes) {
  const auto parsed = tc::parse(text, "f.tc");
  BindingOptions options;
  options.sizes = {fixed};
  const Session quiet{.settings = {}, .report = Reporter({})};
  auto workload = load_sized({parsed.value().programs.front(), "tc", text}, options, sizes, quiet);
  REQUIRE(workload);
  return *std::move(workload);
}

TimedPoint point(int64_t at, double first) { return {{at}, {first, 1}, {}, {}}; }

TimedPoint with_own(const codegen::SizedEntry& entry, TimedPoint point, double speed) {
  const auto& member = entry.members.back();
  point.own.push_back({point.at, true, entry.program.at(point.at).value(), member.schedule});
  point.own.back().schedule.runtime = {};
  point.own_speeds = {speed};
  return point;
}

size_t member_at(const codegen::SizedEntry& entry, int64_t size) {
  for (size_t i = 0; i < entry.members.size(); ++i)
    if (entry.members[i].only && entry.members[i].at == std::vector<int64_t>{size}) return i;
  return entry.table[codegen::cell_of(size, codegen::bits_for(1))];
}

std::string code_of_sizes(std::vector<std::string> assignments) {
  const auto taken = take_entry_sizes(assignments);
  return taken ? "" : taken.error().code;
}

}  // namespace

TEST_CASE("a stored sized entry is read as the command line spells its sizes") {
  const std::string text = "def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }";
  const std::string other = "def g(float(P,Q) X, float(Q,R) Y) -> (Z) { Z(p,r) +=! Y(q,r) * X(p,q) }";
  const auto stored = workload_of(text, "K=7", {{"M", 1, 8}, {"N", 1, 8}});
  const size_t cells = codegen::cell_count(codegen::bits_for(2));
  const auto cell = [&](int64_t first, int64_t second) {
    return codegen::cell_of(first, codegen::bits_for(2)) * cells + codegen::cell_of(second, codegen::bits_for(2));
  };
  json options = codegen::to_json(codegen::SizedEntry{stored.program, {}, {}, {}});
  options["members"] = {{{"at", {2, 5}}, {"record", {{"tuned_at", {2, 5}}}}}, {{"at", {8, 1}}, {"record", {}}}};
  options["table"] = std::vector<int>(cells * cells, 0);
  options["table"][cell(2, 5)] = 1;
  options["roles"] = size_roles(stored).value();
  CHECK(*spelled_as(options, stored).value() == options);

  const auto found = spelled_as(options, workload_of(other, "Q=7", {{"R", 1, 8}, {"P", 1, 8}})).value();
  REQUIRE(found);
  CHECK(found->at("sizes")[0]["name"] == "R");
  CHECK(found->at("members")[0]["at"] == json{5, 2});
  CHECK(found->at("members")[0]["record"]["tuned_at"] == json{5, 2});
  CHECK(found->at("members")[1]["at"] == json{1, 8});
  for (size_t k = 0; k < cells * cells; ++k) CHECK(found->at("table")[k] == (k == cell(5, 2) ? 1 : 0));
  const auto in_order = spelled_as(options, workload_of(other, "Q=7", {{"P", 1, 8}, {"R", 1, 8}})).value();
  REQUIRE(in_order);
  CHECK(in_order->at("table") == options["table"]);

  const auto is_found = [&](const SizedWorkload& workload) {
    return spelled_as(options, workload).value().has_value();
  };
  // Other sizes of the same range; another range.
  CHECK_FALSE(is_found(workload_of(text, "N=7", {{"M", 1, 8}, {"K", 1, 8}})));
  CHECK_FALSE(is_found(workload_of(text, "K=7", {{"M", 1, 8}, {"N", 2, 8}})));
  CHECK_FALSE(is_found(workload_of(text, "K=7,N=8", {{"M", 1, 8}})));
  // As earlier versions stored it.
  options.erase("roles");
  CHECK(is_found(workload_of(text, "K=7", {{"N", 1, 8}, {"M", 1, 8}})));
  CHECK_FALSE(is_found(workload_of(other, "Q=7", {{"P", 1, 8}, {"R", 1, 8}})));
  // Of whatever else, nothing.
  for (const char* strange : {"{}", "7", "{\"sizes\": 7}", "{\"sizes\": [1, 2]}", "[[1]]"})
    CHECK_FALSE(spelled_as(json::parse(strange), stored).value());
  options["table"] = options["members"] = 7;
  CHECK(is_found(workload_of(text, "K=7", {{"N", 1, 8}, {"M", 1, 8}})));
}

TEST_CASE("a size that alone has many values is told from others of the same numbers") {
  const std::string text = "def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }";
  const auto stored = workload_of(text, "K=16,N=8", {{"M", 1, 16}});
  json options = codegen::to_json(codegen::SizedEntry{stored.program, {}, {}, {}});
  options["roles"] = size_roles(stored).value();
  const auto other = workload_of(text, "M=16,N=8", {{"K", 1, 16}});
  REQUIRE(other.top.row.content_hash == stored.top.row.content_hash);
  CHECK_FALSE(spelled_as(options, other).value());
}

TEST_CASE("ranges and lists are taken out of the sizes") {
  std::vector<std::string> assignments{"M=64,N=1..512", "K=5,3,5,7", "L=2"};
  const auto taken = take_entry_sizes(assignments);
  REQUIRE(taken);
  REQUIRE(taken->size() == 2);
  CHECK(taken->at(0) == EntrySize{"N", 1, 512, {}});
  CHECK(taken->at(1).name == "K");
  CHECK(taken->at(1).listed == std::vector<int64_t>{3, 5, 7});
  CHECK(taken->at(1).first == 1);
  CHECK(taken->at(1).last >= 7);
  CHECK(assignments == std::vector<std::string>{"M=64", "L=2"});
  CHECK(entry_sizes_text(*taken) == "N=1..512 K=3,5,7");
  CHECK(point_text(*taken, {3, 7}) == "N=3 K=7");
}

TEST_CASE("what is no range is refused") {
  for (const char* text : {"N=0..4", "N=4..4", "N=5..4", "N=1..", "N=..4", "N=1...4", "N=3,", "N=,3", "N=3,x", "N=3,0",
                           "N=1..99999999999999999999", "N=-1..4", "N=1..4294967296"}) {
    INFO(text);
    CHECK(code_of_sizes({text}) == "bad-size");
  }
  for (const char* text : {"N=0..4", "N=3,0", "N=0,3"}) {
    std::vector<std::string> assignments{text};
    CHECK_THAT(take_entry_sizes(assignments).error().message, Catch::Contains("has the size 0"));
  }
  CHECK(code_of_sizes({"N=1..4", "N=8"}) == "bad-size");
  CHECK(code_of_sizes({"N=1..4", "N=1..8"}) == "bad-size");
  CHECK(code_of_sizes({"A=1..4", "B=1..4", "C=1..4", "D=1..4"}) == "bad-size");
  CHECK(code_of_sizes({"N=8", "M=x"}) == "");  // for parse_sizes() to refuse
}

TEST_CASE("searches are spread over a range at equal ratios, the largest first") {
  CHECK(points_to_search(kRange, 2) == Points{{512}, {1}});
  CHECK(points_to_search(kRange, 4) == Points{{512}, {64}, {8}, {1}});
  CHECK(points_to_search({{"N", 7, 8}}, 8) == Points{{8}, {7}});
  CHECK(points_to_search({{"N", 1, 1000, {3, 11}}}, 1) == Points{{11}, {3}});
  // About as many points whatever the number of sizes.
  CHECK(points_to_search({{"N", 1, 64}, {"M", 2, 8}}, 4) == Points{{64, 8}, {64, 2}, {1, 8}, {1, 2}});
}

TEST_CASE("kernels are timed at searched sizes, at the smallest, and at odd ones between") {
  const auto searched = points_to_search(kRange, 3);
  const auto points = points_to_time(kRange, searched, 32);
  CHECK(Points(points.begin(), points.begin() + 3) == searched);
  const std::set<std::vector<int64_t>> all(points.begin(), points.end());
  CHECK(all.size() == points.size());
  for (int64_t n = 1; n <= 16; ++n) CHECK(all.contains({n}));
  int odd = 0;
  for (const auto& one : points) {
    CHECK((one[0] >= 1 && one[0] <= 512));
    odd += one[0] > 16 && one[0] % 2 == 1;
  }
  CHECK(odd >= 6);
  // The first few already lie far apart: a budget that ends early leaves no gap at one end.
  CHECK(points[3][0] > 16);
  CHECK(points[4][0] < 16);
  CHECK(points_to_time({{"N", 1, 1000, {3, 11}}}, {{11}, {3}}, 40) == Points{{11}, {3}});
  CHECK(points_to_time({{"N", 5, 6}}, {{6}, {5}}, 40).size() == 2);
}

TEST_CASE("a budget decides how many sizes are searched") {
  CHECK(plan_sized(kRange, {64, std::nullopt}).searched == 4);
  CHECK(plan_sized(kRange, {64, std::nullopt}).each.trials == 16);
  CHECK(plan_sized(kRange, {3, std::nullopt}).searched == 2);
  CHECK(plan_sized(kRange, {3, std::nullopt}).each.trials == 1);
  CHECK(plan_sized(kRange, {100000, std::nullopt}).searched == 8);
  const auto minute = plan_sized(kRange, {std::nullopt, 60});
  CHECK(minute.searched == 4);
  CHECK(*minute.each.seconds * 4 + static_cast<double>(minute.timed) <= 60.001);
  // All that are listed are searched.
  CHECK(plan_sized({{"N", 1, 9, {1, 2, 3, 4, 5}}}, {40, std::nullopt}).each.trials == 8);
}

TEST_CASE("each size gets the kernel that was fastest at the nearest point") {
  const auto entry = choose_members(candidates(), {point(1, 0), point(64, 2), point(512, 3)});
  REQUIRE(entry.members.size() == 2);
  CHECK(member_at(entry, 512) == 0);
  CHECK(member_at(entry, 64) == 0);
  // Nearer to 64 than to 1, but its tiles are 64 wide.
  CHECK(member_at(entry, 40) == 1);
  CHECK(member_at(entry, 63) == 1);
  CHECK(member_at(entry, 1) == 1);
  // The choice changes halfway, in ratio.
  const auto mixed = choose_members(candidates(), {point(64, 1), point(256, 2)});
  CHECK(member_at(mixed, 112) == 1);
  CHECK(member_at(mixed, 144) == 0);
}

TEST_CASE("what is not faster than the generic kernel is left out") {
  const auto entry = choose_members(candidates(), {point(64, 1.01), point(512, 0.5)});
  CHECK(entry.members.size() == 1);
  for (const uint8_t member : entry.table) CHECK(member == 0);
  CHECK(choose_members(candidates(), {}).members.size() == 1);
}

TEST_CASE("a size of its own has a kernel where that gains") {
  auto all = candidates();
  const auto entry = choose_members(all, {with_own(all, point(3, 0), 4), with_own(all, point(100, 2), 2.01),
                                          with_own(all, point(500, 2), 3), with_own(all, point(5, 0), 0)});
  // At 100 the kernel for many sizes is as fast; at 5 its own failed.
  REQUIRE(entry.members.size() == 4);
  CHECK(entry.members[0].at == std::vector<int64_t>{3});
  CHECK(entry.members[1].at == std::vector<int64_t>{500});
  CHECK(member_at(entry, 3) == 0);
  CHECK(member_at(entry, 100) == 2);
  CHECK(member_at(entry, 4) == 3);
  // Listed sizes have theirs unless it is slower.
  all.program.sizes = {{"N", 1, 512, {100, 200}}};
  const auto listed = choose_members(all, {with_own(all, point(100, 2), 2), with_own(all, point(200, 2), 1.9)});
  REQUIRE(listed.members.size() == 3);
  CHECK(listed.members[0].at == std::vector<int64_t>{100});
}

TEST_CASE("a library of a range holds a limited number of kernels for one size, those that gain most") {
  const auto all = candidates();
  std::vector<TimedPoint> points;
  for (int64_t n = 1; n <= 60; ++n) points.push_back(with_own(all, point(n, 0), 1.1 + 0.01 * static_cast<double>(n)));
  const auto entry = choose_members(all, std::move(points));
  REQUIRE(entry.members.size() == kMostOwn + 1);
  CHECK(entry.members[0].at == std::vector<int64_t>{60 - static_cast<int64_t>(kMostOwn) + 1});
}
