// The fuzzers' corpus and megabytes of single patterns, replayed: nothing crashes, hangs or breaks a promise.
#include <catch2/catch.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "frontend/tc/parse.h"
#include "tests/fuzz/frontends/entries.h"

namespace tile_tune {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = TILE_TUNE_SOURCE_DIR;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_under(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> tc_texts() {
  auto files = files_under(kSource / "tests/golden/tc");
  const auto examples = files_under(kSource / "examples");
  files.insert(files.end(), examples.begin(), examples.end());
  std::erase_if(files, [](const fs::path& path) { return path.extension() != ".tc"; });
  return files;
}

std::string repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

struct Pattern {
  std::string before, part, after;
};

// The largest input that readers promise to take is 1 MB.
void replay_megabytes(void (*run)(std::string_view), const std::vector<Pattern>& patterns) {
  for (const auto& [before, part, after] : patterns) {
    CAPTURE(before, part, after);
    REQUIRE_NOTHROW(run(before + repeated(part, 1'000'000 - before.size() - after.size()) + after));
  }
}

const std::string kDef = "def f(float(N) A) -> (B) { ";
const std::string kSave = R"({"kind": "program", "format": 1, "name": "p", "sizes": [], "tensors": )";

}  // namespace

TEST_CASE("the fuzzers' corpus", "[fuzz]") {
  for (const auto& entry : fuzz::kEntries) {
    const auto files = files_under(kSource / "tests/fuzz/frontends/corpus" / entry.name);
    CHECK(files.size() >= 4);
    for (const auto& file : files) {
      INFO(file.string());
      CHECK_NOTHROW(entry.run(contents(file)));
    }
  }
}

TEST_CASE("every TC text of the tree as a fuzzer's input, and the programs in it as JSON", "[fuzz]") {
  for (const auto& file : tc_texts()) {
    INFO(file.string());
    const std::string text = contents(file);
    CHECK_NOTHROW(fuzz::tc(text));
    const auto parsed = tc::parse(text, "");
    if (!parsed) continue;
    for (const auto& program : parsed->programs) CHECK_NOTHROW(fuzz::program_json(to_json(program).dump()));
  }
}

TEST_CASE("a megabyte of one pattern: TC", "[fuzz]") {
  std::vector<Pattern> patterns{
      {"", std::string(1, '\0'), ""},
      {"", "\xff", ""},
      {"", "def ", ""},
      {"#", "x", ""},
      {"def ", "x", "("},
      {"def f(", "float A,", ""},
      {"def f(float(N", ",N", ") A) -> (B) { B(i) = A(i) }"},
      {kDef, "B(i) = A(i) ", "}"},
      {kDef, "B(i) += A(i); ", "}"},
      {kDef + "B(i) = A(i) where ", "i in 0:N, ", "i in 0:N }"},
      {kDef + "B(i) = A(i) where ", "x = A(i), ", "y = 1 }"},
      {kDef + "B(i) = A(i) where ", "exists A(i), ", "exists A(i) }"},
      {"", "def f(float(N) A) -> (B) { B(i) = A(i) } ", ""},
      {kDef + "B(i) = A(i", " + N", ") }"},
      {kDef + "B(i) = A(", "9", ") }"},
      {kDef + "B(i) = ", "1e9", " }"},
      {kDef + "B(i) = A(i)", " ? A(i) : A(i)", " }"},
      {kDef + "B(i", ",i", ") = A(i) }"},
  };
  for (const char* opening :
       {"(", "-", "!", "A(", "min(1,", "float(", "i ? ", "1 + ", "1 * ", "1 < ", "b || ", "1 - ("})
    patterns.push_back({kDef + "B(i) = ", opening, ""});
  replay_megabytes(fuzz::tc, patterns);
}

TEST_CASE("a megabyte of one pattern: einsum", "[fuzz]") {
  replay_megabytes(fuzz::einsum, {{"", "i", "->i"},
                                  {"", "i,", "i->i"},
                                  {"", "i,", "i->i\n\x0d"},
                                  {"", "(", ""},
                                  {"", "(i", ""},
                                  {"", "()", "->"},
                                  {"", ".", ""},
                                  {"", "...", ""},
                                  {"", " ", "i->i"},
                                  {"", "1", "->"},
                                  {"", "1 2 3 ", "->"},
                                  {"", "->", ""},
                                  {"", "\xce\xb1", ""},
                                  {"", "\xff", ""},
                                  {"i->", "i", ""}});
}

TEST_CASE("a megabyte of one pattern: JSON", "[fuzz]") {
  const std::vector<Pattern> patterns{
      {"", "[", ""},
      {"", R"({"a":)", ""},
      {"", "9", ""},
      {R"({"kind": ")", "x", R"("})"},
      {R"({"kind": "schedule", "version": 1, "stages": [{"tiles": [)", "[1],", "[1]]}]}"},
      {R"({"kind": "schedule", "version": 1, "stages": [)", R"({"inlined": true},)", R"({"inlined": true}]})"},
      {kSave + "[", "{},", "{}]}"},
      {kSave + R"([{"name": "a", "type": "f32", "extents": [)", "1,", "1]}]}"},
      {kSave + R"([{"name": "a", "type": "f32", "extents": [)", R"({"add": [)", ""}};
  replay_megabytes(fuzz::program_json, patterns);
  replay_megabytes(fuzz::schedule_json, patterns);
}

TEST_CASE("a megabyte of one pattern: .npy", "[fuzz]") {
  const std::string start("\x93NUMPY\x02\x00\xf0\x3f\x0f\x00", 12);  // a header of 999,408 bytes
  replay_megabytes(fuzz::npy, {{start, " ", ""},
                               {start, "(", ""},
                               {start + "{'shape': (", "1,", ")}"},
                               {start + "{'descr': [", "(", ""},
                               {start + "{'descr': '", "x", ""},
                               {start + "{'shape': (", "9", ",)}"}});
}

}  // namespace tile_tune
