// One entry for many sizes: which sizes a cell holds, and what is refused of an entry from elsewhere.
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "codegen/emit/sized_entry.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using nlohmann::json;

namespace {

ir::Program parse(const std::string& text) { return tc::parse(text, "f.tc").value().programs.front(); }

/// c(i,j) = a(i,j) + b(i,j): a kernel for N = 40, one for tiles of 16, one for all.
SizedEntry entry() {
  SizedEntry entry{
      {parse("def f(float(N,M) A, float(N,M) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }"), {{"M", 8}}, {{"N", 1, 300, {}}}},
      {},
      {},
      {}};
  entry.runtime = runtime_sizes_of(entry.program).value();
  NestSchedule stage;
  stage.tiles = {{16}, {8}};
  stage.order = {{0, 1}};
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 8;
  NestSchedule own = stage;
  own.tiles = {{40}, {8}};
  entry.members.push_back({{40}, true, entry.program.at({40}).value(), {{own}}, json::object()});
  for (const bool guarded : {false, true})
    entry.members.push_back(member_for_many(entry, {300}, {{stage}}, guarded).value());
  for (auto& member : entry.members) member.record = json::object();
  for (size_t cell = 0; cell < cell_count(bits_for(1)); ++cell)
    entry.table.push_back(first_of_cell(cell, bits_for(1)) >= 16 ? 1 : 2);
  return entry;
}

Result<SizedEntry> read(const json& described) {
  const auto original = entry();
  return entry_from_json(described, original.program.symbolic, original.program.fixed);
}

std::string code_of(const json& described) {
  const auto result = read(described);
  return result ? "" : result.error().code;
}

/// The code with which an entry is refused that one thing was changed of.
template <typename Change>
std::string refused(Change change) {
  json described = to_json(entry());
  change(described);
  return code_of(described);
}

Result<std::vector<RuntimeSize>> sizes_of(const std::string& text, ir::Sizes fixed, std::vector<EntrySize> sizes) {
  return runtime_sizes_of({parse(text), std::move(fixed), std::move(sizes)});
}

}  // namespace

TEST_CASE("every size lies in one cell, and cells begin where they say") {
  for (const int bits : {0, 2, 3}) {
    CHECK(cell_of(1, bits) == 1);
    size_t last = cell_of(1, bits);
    for (int64_t size = 1; size < 5000; ++size) {
      const size_t cell = cell_of(size, bits);
      REQUIRE((cell == last || cell == last + 1));
      if (cell != last) REQUIRE(first_of_cell(cell, bits) == size);
      last = cell;
    }
    // As many cells to each doubling as was asked for.
    CHECK(cell_of(2048, bits) - cell_of(1024, bits) == size_t{1} << bits);
    CHECK(cell_of(int64_t{1} << 20, bits) == cell_count(bits) - 1);
    CHECK(cell_of((int64_t{1} << 20) - 1, bits) == cell_count(bits) - 2);
    CHECK(cell_of(INT32_MAX, bits) == cell_count(bits) - 1);
    CHECK(first_of_cell(cell_count(bits) - 1, bits) == int64_t{1} << 20);
  }
}

TEST_CASE("a cell's sizes end where the range does") {
  const std::vector<EntrySize> sizes = {{"N", 3, 37, {}}};
  const auto of = [&](int64_t size) { return sizes_of_cell(sizes, cell_of(size, 3)); };
  REQUIRE(of(36));
  CHECK(of(36)->first == std::vector<int64_t>{36});
  CHECK(of(36)->last == std::vector<int64_t>{37});
  CHECK(of(3)->first == std::vector<int64_t>{3});
  CHECK_FALSE(of(2));
  CHECK_FALSE(of(40));
  const std::vector<EntrySize> two = {{"N", 1, 9, {}}, {"M", 5, 1 << 21, {}}};
  const auto corner = sizes_of_cell(two, cell_of(9, 2) * cell_count(2) + cell_of(1 << 21, 2));
  REQUIRE(corner);
  CHECK(corner->first == std::vector<int64_t>{8, 1 << 20});
  CHECK(corner->last == std::vector<int64_t>{9, 1 << 21});
}

TEST_CASE("a sized entry survives its JSON form") {
  const auto original = entry();
  const auto back = read(to_json(original));
  REQUIRE(back);
  CHECK(to_json(*back) == to_json(original));
  CHECK(back->members[1].schedule == original.members[1].schedule);
  CHECK(back->runtime == original.runtime);
}

TEST_CASE("kernels are looked at where the table sends calls to them") {
  const auto all = entry();
  using Points = std::vector<std::vector<int64_t>>;
  CHECK(sizes_to_check(all, 0) == Points{{40}});
  const auto large = sizes_to_check(all, 1), every = sizes_to_check(all, 2);
  CHECK(large.front() == std::vector<int64_t>{16});
  CHECK(large.back() == std::vector<int64_t>{300});
  CHECK(every.front() == std::vector<int64_t>{1});
  for (const int64_t size : {7, 15, 61}) CHECK(std::count(every.begin(), every.end(), std::vector{size}) == 1);
}

TEST_CASE("a sized entry from elsewhere is checked") {
  CHECK(refused([](json&) {}) == "");
  // Tiles of 16 reach beyond tensors of 15.
  CHECK(refused([](json& one) { one["table"][cell_of(15, 3)] = 1; }) == "bad-family");
  CHECK(refused([](json& one) { one["table"][cell_of(50, 3)] = 0; }) == "bad-family");
  CHECK(refused([](json& one) { one["table"][5] = 3; }) == "bad-family");
  CHECK(refused([](json& one) { one["table"][5] = 300; }) == "bad-family");
  CHECK(refused([](json& one) { one["table"][5] = -1; }) == "bad-family");
  CHECK(refused([](json& one) { one["table"].erase(5); }) == "bad-family");
  CHECK(refused([](json& one) { one["table"] = json::array(); }) == "");  // only N=40 then
  CHECK(refused([](json& one) { one["members"].erase(2); }) == "bad-family");
  CHECK(refused([](json& one) { one["members"] = json::array(); }) == "bad-family");
  CHECK(refused([](json& one) { one["members"][2]["guarded"] = false; }) == "bad-family");
  CHECK(refused([](json& one) { one["members"][2]["only"] = true; }) == "bad-family");
  CHECK(refused([](json& one) { one["members"][0]["at"] = {39}; }) == "invalid-schedule");
  CHECK(refused([](json& one) { one["members"][0]["at"] = {301}; }) == "bad-family");
  CHECK(refused([](json& one) { one["members"][0]["at"] = {40, 40}; }) == "bad-family");
  CHECK(refused([](json& one) { one["members"][1]["schedule"]["stages"][0]["tiles"][0] = {0}; }) == "invalid-schedule");
  CHECK(refused([](json& one) { one["members"][1]["schedule"] = 7; }) != "");
  CHECK(refused([](json& one) { one["sizes"][0]["name"] = "K"; }) != "");
  CHECK(refused([](json& one) { one["sizes"][0]["first"] = 0; }) == "bad-family");
  CHECK(refused([](json& one) { one["sizes"][0]["last"] = int64_t{1} << 40; }) == "bad-family");
  CHECK(refused([](json& one) { one["sizes"].push_back(one["sizes"][0]); }) != "");
  CHECK(refused([](json& one) { one.erase("sizes"); }) == "bad-family");
  CHECK(code_of(json(7)) == "bad-family");
  CHECK(code_of(json::array()) == "bad-family");
}

TEST_CASE("a table entry for a smaller range is not refused: no call gets there") {
  json described = to_json(entry());
  described["sizes"][0]["first"] = 16;
  described["table"][cell_of(15, 3)] = 1;
  CHECK(read(described));
}

TEST_CASE("where one kernel cannot compute many sizes, it says why") {
  const auto why = [](const std::string& text, ir::Sizes fixed, std::vector<EntrySize> sizes) {
    const auto found = sizes_of(text, std::move(fixed), std::move(sizes));
    return found ? "" : found.error().code + ": " + found.error().message;
  };
  const std::string matmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }";
  CHECK(why(matmul, {{"M", 8}, {"K", 8}}, {{"N", 1, 512}}) == "");
  CHECK(why(matmul, {}, {{"N", 1, 512}, {"M", 1, 64}, {"K", 3, 5}}) == "");
  // Every other element: (N + 1) / 2 of them.
  CHECK_THAT(why("def f(float(N) A) -> (C) { C(i) = A(2*i) }", {}, {{"N", 1, 64}}),
             Catch::StartsWith("no-size-range") && Catch::Contains("does not grow evenly"));
  // Smaller than its window.
  CHECK_THAT(why("def f(float(N) A, float(3) W) -> (C) { C(i) +=! A(i+j) * W(j) }", {}, {{"N", 1, 64}}),
             Catch::Contains("empty"));
}
