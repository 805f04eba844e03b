// Every example of the documents: programs are checked, commands run, and what they print is compared.
//
//   ```tc          a program that `check` takes without a word; a first line "# NAME.tc: ..." saves it for commands
//   ```tc CODE     one that gives the diagnostic CODE
//   ```console     "$ COMMAND" and what it prints to both streams. A line of three dots stands for any lines, the
//                  character "…" for anything in a line
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

namespace fs = std::filesystem;

struct Block {
  std::string language, words, text;
  int line = 0;
};

std::vector<Block> blocks_of(const std::string& document) {
  std::istringstream lines(document);
  std::vector<Block> blocks;
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) continue;
      std::istringstream info(line.substr(3));
      Block block;
      info >> block.language >> block.words;
      block.line = number + 1;
      blocks.push_back(block);
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

struct Command {
  std::string line;
  std::vector<std::string> expected;
};

std::vector<Command> commands_of(const std::string& text) {
  std::vector<Command> commands;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$ "))
      commands.push_back({line.substr(2), {}});
    else if (!commands.empty())
      commands.back().expected.push_back(line);
  }
  return commands;
}

constexpr const char* kAnything = "…";

bool fits(const std::string& line, const std::string& pattern) {
  const size_t gap = pattern.find(kAnything);
  if (gap == std::string::npos) return line == pattern;
  const std::string rest = pattern.substr(gap + std::string(kAnything).size());
  if (!line.starts_with(pattern.substr(0, gap))) return false;
  for (size_t at = gap; at <= line.size(); ++at)
    if (fits(line.substr(at), rest)) return true;
  return false;
}

bool fits(const std::vector<std::string>& lines, size_t line, const std::vector<std::string>& expected, size_t at) {
  if (at == expected.size()) return line == lines.size();
  if (expected[at] != "...")
    return line < lines.size() && fits(lines[line], expected[at]) && fits(lines, line + 1, expected, at + 1);
  for (size_t next = line; next <= lines.size(); ++next)
    if (fits(lines, next, expected, at + 1)) return true;
  return false;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// "matvec.tc" of "# matvec.tc: ...".
std::string file_of(const Block& block) {
  if (!block.text.starts_with("# ")) return "";
  const size_t end = block.text.find(".tc");
  const std::string name = block.text.substr(2, end == std::string::npos ? 0 : end + 1);
  return name.find_first_of(" \n") == std::string::npos ? name : "";
}

void check_program(const Sandbox& box, const Block& block) {
  const std::string name = file_of(block);
  const std::string file = name.empty() ? "example.tc" : name;
  box.write(file, block.text);
  const auto checked = box.run({"check", file});
  INFO(checked.out << checked.err);
  if (block.words.empty()) {
    CHECK(checked.exit_code == 0);
    CHECK(checked.err.empty());
  } else {
    CHECK(checked.err.find("[" + block.words + "]") != std::string::npos);
  }
}

void check_commands(const Sandbox& box, const Block& block) {
  const std::string tool = fs::path(Sandbox::tool()).parent_path().string();
  for (const auto& command : commands_of(block.text)) {
    const auto ran = box.run_program({"sh", "-c", "exec 2>&1; PATH=" + tool + ":$PATH; " + command.line});
    INFO("$ " << command.line << "\n" << ran.out);
    CHECK(fits(split(ran.out), 0, command.expected, 0));
  }
}

void check_document(const std::string& name, size_t least) {
  const Sandbox box;
  const fs::path source = TILE_TUNE_SOURCE_DIR;
  std::ostringstream document;
  std::ifstream file(source / name);
  document << file.rdbuf();
  // Where a reader stands: in the root of the repository, as in the folder of the example.
  fs::create_directory_symlink(source / "examples", box.path("examples"));
  fs::create_directory_symlink(source / "configs", box.path("configs"));
  fs::create_directory(box.path("scripts"));
  fs::create_symlink(Sandbox::tool(), box.path("scripts/tile-tune"));
  size_t examples = 0;
  for (const auto& block : blocks_of(document.str())) {
    INFO(name << ":" << block.line);
    if (block.language == "tc") check_program(box, block);
    if (block.language == "console") check_commands(box, block);
    if (block.language == "tc" || block.language == "console") ++examples;
  }
  CHECK(examples >= least);
}

}  // namespace

TEST_CASE("the examples of docs/tc.md") { check_document("docs/tc.md", 10); }
TEST_CASE("the examples of docs/schedule.md") { check_document("docs/schedule.md", 3); }
TEST_CASE("the examples of docs/cli.md") { check_document("docs/cli.md", 5); }
TEST_CASE("the examples of README.md") { check_document("README.md", 2); }

TEST_CASE("outputs are compared with what documents leave open") {
  CHECK(fits("3 of 5 s", "3 of … s"));
  CHECK_FALSE(fits("3 of 5 ms", "3 of … s"));
  CHECK(fits({"a", "b", "c"}, 0, {"a", "...", "c"}, 0));
  CHECK(fits({"a", "b", "c"}, 0, {"...", "c", "..."}, 0));
  CHECK_FALSE(fits({"a", "b", "c"}, 0, {"a", "..", "c"}, 0));
  CHECK_FALSE(fits({"a", "b", "c"}, 0, {"a", "b"}, 0));
}
