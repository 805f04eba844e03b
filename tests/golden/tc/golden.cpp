// tc_golden [--update] FILE.tc...: compares what parsing gives with the .txt beside each file, or rewrites it.
#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/tc/parse.h"
#include "tests/golden/tc/dump.h"

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string result_of(const fs::path& program) {
  const auto parsed = tile_tune::tc::parse(read_file(program), program.filename().string());
  if (!parsed) return tile_tune::render(parsed.error());
  std::string text;
  for (const auto& warning : parsed->warnings) text += tile_tune::render(warning);
  for (const auto& def : parsed->programs) text += tile_tune::test::dump(def);
  return text;
}

bool is_equal(const fs::path& program) {
  const auto expected = read_file(fs::path(program).replace_extension(".txt"));
  const auto result = result_of(program);
  if (result == expected && !expected.empty()) return true;
  fmt::print("{}\n--- expected\n{}--- found\n{}", program.string(), expected, result);
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  const bool update = count > 1 && std::string_view(arguments[1]) == "--update";
  bool all_equal = count > 1;
  for (int i = update ? 2 : 1; i < count; ++i) {
    const fs::path program = arguments[i];
    if (update) {
      std::ofstream(fs::path(program).replace_extension(".txt"), std::ios::binary) << result_of(program);
    } else {
      all_equal = is_equal(program) && all_equal;
    }
  }
  return all_equal ? 0 : 1;
}
