#include <algorithm>
#include <catch2/catch.hpp>

#include "base/nearest_name.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/bench_report.h"
#include "cli/db_rows.h"
#include "cli/fitted_table.h"
#include "cli/command.h"
#include "cli/status_line.h"
#include "cli/status_text.h"
#include "cli/summary.h"
#include "cli/table.h"

using namespace tile_tune;
using namespace tile_tune::cli;
using namespace tile_tune::base;

TEST_CASE("tables align by characters, not bytes, and leave no blanks at the end") {
  CHECK(format_table({{"name"}, {"time", Align::Right}}, {{"a", "1 µs"}, {"longer", "12 ms"}, {"", ""}}, 1) ==
        " name     time\n a        1 µs\n longer  12 ms\n\n");
  CHECK(format_table({{""}, {""}}, {{"a", "b"}}) == "a  b\n");
  CHECK(format_table({{"x"}}, {}) == "x\n");
}

TEST_CASE("the last column of a table goes on below itself where the width ends, at blanks") {
  const std::vector<std::vector<std::string>> rows{{"note", "µµµµ five words that break  twice"},
                                                   {"path", "/no/blanks/anywhere/in/it"}};
  CHECK(format_table({{""}, {""}}, rows, 1, 27) ==
        " note  µµµµ five words that\n"
        "       break  twice\n"
        " path  /no/blanks/anywhere/in/it\n");
  CHECK(format_table({{""}, {""}}, {rows[0]}, 1, 26) ==
        " note  µµµµ five words that break  twice\n");  // too narrow to break
  CHECK(format_table({{""}, {""}}, {rows[0]}, 1) == " note  µµµµ five words that break  twice\n");
  CHECK(broken_into_lines("of 95 % so", 6) == std::vector<std::string>{"of", "95 %", "so"});
  CHECK(broken_into_lines("in 12 s", 3) == std::vector<std::string>{"in", "12 s"});
  CHECK(broken_into_lines("", 5) == std::vector<std::string>{""});
  CHECK(broken_into_lines("ab cd efghij k ", 5) == std::vector<std::string>{"ab cd", "efghij", "k"});
}

TEST_CASE("cells with control characters keep to their line and away from the terminal") {
  CHECK(format_table({{"name"}, {"x"}}, {{"a\033[2J\nb\tc", "\x9B\xC2\x9B"}}) ==
        "name            x\n"
        "a\\x1B[2J\\nb\\tc  \\x9B\\xC2\\x9B\n");
}

namespace {

const std::vector<FittedColumn> kColumns = {
    {{"id"}, Keep::Whole}, {{"program"}, Keep::Cut}, {{"time", Align::Right}, Keep::Whole}, {{"layout"}}, {{"types"}}};

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, text_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("what all lines share is said once above the table, unless it is what tells lines apart") {
  const auto table =
      fit_table(kColumns, {{"a1", "matmul", "1 µs", "row", "f32"}, {"a1", "matmul", "2 µs", "row", "f64"}}, 0);
  CHECK(table.shared == "layout row");
  CHECK(table.hidden.empty());
  CHECK(fitted_text(table) ==
        "in all lines: layout row\n"
        "id  program  time  types\n"
        "a1  matmul   1 µs  f32\n"
        "a1  matmul   2 µs  f64\n");
  // One line shares everything with itself.
  CHECK(fitted_text(fit_table(kColumns, {{"a1", "matmul", "1 µs", "row", "f32"}}, 0)) ==
        "id  program  time  layout  types\n"
        "a1  matmul   1 µs  row     f32\n");
  CHECK(fit_table(kColumns, {{"a", "b", "c", "-", "x"}, {"d", "e", "f", "-", "x"}}, 0).shared == "no layout, types x");
  CHECK(fit_table(kColumns, {}, 0).text == "id  program  time  layout  types\n");
}

TEST_CASE("a table fits the terminal: names are cut, then columns left out from the last, and that is said") {
  const std::string name = "a_very_long_name_of_a_program_with_µ_in_it";  // 42 characters
  const std::vector<std::vector<std::string>> rows = {{"a1", name, "1 µs", "row", "f32"},
                                                      {"b2", "x", "22 µs", "col", "f64,i8->f64"}};
  const auto full = fit_table(kColumns, rows, 0);
  CHECK(widest_line(full.text) == 2 + 2 + 42 + 2 + 5 + 2 + 6 + 2 + 11);
  for (size_t width = 29; width <= 80; ++width) {
    INFO(width);
    const auto table = fit_table(kColumns, rows, width);
    CHECK(widest_line(table.text) <= width);
    CHECK((table.hidden.empty() || table.hidden.back() == "types"));
  }
  CHECK(fit_table(kColumns, rows, 74).text == full.text);
  const auto cut = fit_table(kColumns, rows, 60);
  CHECK(cut.hidden.empty());
  CHECK(cut.text.find("a_very_long_name_of_a_progr…") != std::string::npos);
  const auto narrow = fit_table(kColumns, rows, 40);
  CHECK(narrow.hidden == std::vector<std::string>{"types"});
  CHECK(fitted_text(narrow).find("\nhidden: types (--wide shows all)\n") != std::string::npos);
  const std::string narrower = fitted_text(fit_table(kColumns, rows, 29));
  CHECK(narrower.find("\nhidden: layout, types (--wide\nshows all)\n") != std::string::npos);
  CHECK(widest_line(narrower) <= 29);
  // What is never left out may be wider than a terminal.
  CHECK(fit_table(kColumns, rows, 5).hidden == std::vector<std::string>{"layout", "types"});
}

TEST_CASE("numbers keep three digits and change units where people do") {
  CHECK(format_time(0) == "0.00 ns");
  CHECK(format_time(1.234) == "1.23 ns");
  CHECK(format_time(999.4) == "999 ns");
  CHECK(format_time(999.6) == "1.00 µs");
  CHECK(format_time(12345) == "12.3 µs");
  CHECK(format_time(9.996e6) == "10.0 ms");
  CHECK(format_time(3.6e12) == "3600 s");
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(1000) == "1.00 kB");
  CHECK(format_count(720, "FLOP") == "720 FLOP");
  CHECK(format_count(268435456, "FLOP") == "268 MFLOP");
  CHECK(format_percent(0.7126) == "71.3 %");
  CHECK(format_percent(0) == "-");
}

TEST_CASE("the status line says how far, how good, and what is being done") {
  Status status;
  status.began = 100;
  status.seconds = 60;
  CHECK(status_text(status, 100.2, 200) == " 0/60 s");
  status.doing = "computing the reference";
  CHECK(status_text(status, 104.9, 200) == " 4/60 s  computing the reference");
  search::Progress progress;
  progress.trials = 40;
  progress.replayed = 8;
  progress.best_ratio = 2.314;
  progress.best_ns = 3080;
  progress.improved_at = 107.5;
  progress.outcomes = {{search::Outcome::Ok, 40},
                       {search::Outcome::Wrong, 1},
                       {search::Outcome::Timeout, 2},
                       {search::Outcome::Slow, 5}};
  status.progress = progress;
  status.flops = 524288;
  status.doing = "compiling 3 of 4";
  CHECK(status_text(status, 112.2, 200) ==
        "12/60 s  48 trials  best 3.08 µs  170 GFLOP/s  2.31x  4 s ago  1 wrong, 2 timeout  compiling 3 of 4");
  // What is told of the model is for those who ask for more.
  status.progress->quality = predict::Quality();
  CHECK(status_text(status, 112.2, 200).find("model") == std::string::npos);
  status.verbose = true;
  CHECK(status_text(status, 112.2, 200).find("model") != std::string::npos);
  status = {};
  status.began = 100;
  status.task = "2 of 12: conv2d";
  progress = {};
  progress.trials = 3;
  progress.trials_left = 5;
  status.progress = progress;
  CHECK(status_text(status, 100.4, 200) == "0 s  2 of 12: conv2d  3/8 trials");
  status.progress = search::Progress();
  status.progress->trials = 1;
  CHECK(status_text(status, 100.4, 200) == "0 s  2 of 12: conv2d  1 trial");
}

TEST_CASE("a narrow status line leaves out what matters least, and is never wider than it may be") {
  Status status;
  status.seconds = 60;
  status.doing = "compiling 3 of 4";
  status.flops = 1e6;
  status.progress = search::Progress();
  status.progress->trials = 48;
  status.progress->best_ratio = 2.3;
  status.progress->best_ns = 3080;
  status.progress->improved_at = 1;
  CHECK(status_text(status, 12, 80) ==
        "12/60 s  48 trials  best 3.08 µs  325 GFLOP/s  2.30x  11 s ago  compiling 3 of 4");
  CHECK(status_text(status, 12, 79) == "12/60 s  48 trials  best 3.08 µs  325 GFLOP/s  2.30x  compiling 3 of 4");
  CHECK(status_text(status, 12, 69) == "12/60 s  48 trials  best 3.08 µs  2.30x  compiling 3 of 4");
  CHECK(status_text(status, 12, 50) == "12/60 s  48 trials  best 3.08 µs  compiling 3 of 4");
  CHECK(status_text(status, 12, 49) == "12/60 s  best 3.08 µs  compiling 3 of 4");
  CHECK(status_text(status, 12, 30) == "12/60 s  compiling 3 of 4");
  CHECK(status_text(status, 12, 10) == "12/60 s  c");
  status.doing = "waiting 3 s for the timing lock, held by process 4711 (tile-tune tune mm.tc)";
  CHECK(status_text(status, 12, 79) ==
        "12/60 s  48 trials  best 3.08 µs  waiting 3 s for the timing lock, held by proc");
  CHECK(status_text(status, 12, 30) == "12/60 s  waiting 3 s for the t");
  status.task = "a\033[2Jb";
  CHECK(status_text(status, 12, 200).find("a\\x1B[2Jb") != std::string::npos);
}

TEST_CASE("lines are cut between characters") {
  CHECK(base::cut_to_width("1 µs more", 4) == "1 µs");
  CHECK(base::cut_to_width("1 µs", 3) == "1 µ");
  CHECK(base::cut_to_width("short", 80) == "short");
}

TEST_CASE("outcomes are counted") {
  CHECK(outcomes_text({}) == "0");
  CHECK(outcomes_text({{search::Outcome::Ok, 3}, {search::Outcome::Crash, 1}}) == "4: 3 ok, 1 crash");
}

TEST_CASE("colour: what is asked for, else on terminals that can, unless NO_COLOR is set to something") {
  CHECK(wants_color("auto", true, "xterm", ""));
  CHECK_FALSE(wants_color("auto", true, "xterm", "1"));
  CHECK_FALSE(wants_color("auto", false, "xterm", ""));
  CHECK_FALSE(wants_color("auto", true, "dumb", ""));
  CHECK_FALSE(wants_color("auto", true, "", ""));
  CHECK(wants_color("always", false, "", "1"));
  CHECK_FALSE(wants_color("never", true, "xterm", ""));
}

TEST_CASE("the nearest name is one a slip away, or none") {
  CHECK(nearest_name("m", {"M", "K"}) == "M");
  CHECK(nearest_name("Q", {"M", "K"}) == "");
  CHECK(nearest_name("BATHC", {"C", "BATCH", "MATCH"}) == "BATCH");
  CHECK(nearest_name("KWH", {"KW", "KH"}) == "KW");
  CHECK(nearest_name("", {"M"}) == "");
  CHECK(nearest_name(std::string(1'000'000, 'x'), {"x"}) == "");
}

TEST_CASE("an einsum that nobody named is called by its subscripts") {
  db::ProgramRow row;
  row.name = "einsum";
  row.frontend = "einsum";
  row.source = "ij,jk->ik";
  CHECK(program_text(row) == "ij,jk->ik");
  row.name = "projection";
  CHECK(program_text(row) == "projection");
  row.name = row.frontend = "tc";
  CHECK(program_text(row) == "tc");
}

TEST_CASE("libraries that are not installed are named once, and not in the table") {
  engine::BenchRow lacking;
  search::Entry own;
  own.name = "default";
  own.samples_ns = {150, 151, 149};
  lacking.result.entries = {own};
  const engine::BenchRow complete = lacking;
  for (const auto baseline : {search::Baseline::OpenBlas, search::Baseline::Eigen}) {
    search::Entry one;
    one.name = search::baseline_name(baseline);
    one.baseline = baseline;
    one.outcome = search::Outcome::CompileError;
    one.reason = one.name + " is not installed";
    lacking.result.entries.push_back(one);
  }
  CHECK(absent_text({lacking, lacking}) == "not installed: openblas, eigen");
  CHECK(bench_table(lacking, 1).find("eigen") == std::string::npos);
  lacking.result.entries.back().reason = "error: no such type";
  CHECK(absent_text({lacking}) == "not installed: openblas");
  CHECK(bench_table(lacking, 1).find("eigen") != std::string::npos);
  CHECK(absent_text({complete}).empty());
}
