// What people see while a command works: on terminals of several widths, on one that can do nothing, and in a log.
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

/// Twelve trials: a time would be over too soon on a busy machine.
Words tune_into(const std::string& database) {
  return {"tune",  "matmul.tc", "-s", "M=256",    "-s", "N=256", "-s",
          "K=256", "--seed",    "1",  "--trials", "12", "--db",  database};
}

/// All that tile-tune writes to a terminal of so many columns.
std::string on_terminal(const Sandbox& box, Words arguments, int columns, const char* kind = "xterm") {
  const winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  arguments.insert(arguments.begin(), Sandbox::tool());
  std::vector<char*> argv;
  for (auto& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(process >= 0);
  if (process == 0) {
    if (chdir(box.path("").c_str()) != 0) _exit(126);
    setenv("HOME", box.path("").c_str(), 1);
    setenv("TERM", kind, 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::string written;
  char bytes[4096];
  for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;)
    written.append(bytes, static_cast<size_t>(count));
  close(terminal);
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  CHECK(status == 0);
  return written;
}

/// What was drawn in one place: behind the beginning of a line, up to where the rest of it is cleared.
Words drawn(const std::string& written) {
  static const std::regex line("\r([^\r\n\033]*)\033\\[K");
  Words lines;
  for (std::sregex_iterator one(written.begin(), written.end(), line), end; one != end; ++one)
    lines.push_back((*one)[1]);
  return lines;
}

size_t characters(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

bool any_has(const Words& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("on a terminal one line is drawn again and again, as wide as there is room, and wiped") {
  const Sandbox box;
  const int columns = GENERATE(40, 200);
  const auto written = on_terminal(box, tune_into("t.db"), columns);
  INFO(written);
  auto lines = drawn(written);
  REQUIRE(lines.size() >= 10);
  CHECK(lines.front().starts_with("0 s"));
  CHECK(lines.back().empty());
  for (const auto& line : lines) CHECK(characters(line) < static_cast<size_t>(columns));
  CHECK(any_has(lines, "compiling "));
  if (columns < 80) return;
  CHECK(any_has(lines, "  1/12 trials  best "));
  CHECK(any_has(lines, " GFLOP/s  1.00x  "));
  CHECK(any_has(lines, " s ago  "));
  // Nor does a line of what is said in the end reach beyond it.
  const std::string summary = written.substr(written.rfind("\033[K") + 3);
  CHECK(summary.find("untuned") != std::string::npos);
  static const std::regex end("\r\n");
  for (std::sregex_token_iterator line(summary.begin(), summary.end(), end, -1), last; line != last; ++line)
    CHECK(characters(*line) <= static_cast<size_t>(columns));
  CHECK(any_has(drawn(on_terminal(box, {"db", "recheck", "--db", "t.db"}, columns)), "1 of 1: matmul M=256"));
}

TEST_CASE("where nothing can be drawn a plain line comes now and then, and with --quiet nothing at all") {
  const Sandbox box;
  const pid_t logged = box.start(tune_into("a.db"), "log");
  auto quiet = tune_into("b.db");
  quiet.push_back("--quiet");
  CHECK(on_terminal(box, quiet, 80).starts_with("matmul  M=256"));
  const auto dumb = on_terminal(box, tune_into("c.db"), 80, "dumb");
  INFO(dumb);
  CHECK(dumb.find('\033') == std::string::npos);
  const auto log = box.finish(logged, "log");
  INFO(log.err);
  CHECK(log.err.find_first_of("\r\033") == std::string::npos);
  const std::regex line("(^|\n)[0-9]+ s  [0-9]+/12 trials  best [^\r\n]*  finals[^\r\n]*\r?\n");
  CHECK(std::regex_search(dumb, line));
  CHECK(std::regex_search(log.err, line));
}
