// What `tune` says at the end, of figures made up here.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/summary.h"
#include "engine/session/plain_onlooker.h"

using namespace tile_tune;
using namespace tile_tune::cli;
using Catch::Contains;
using search::FinalsHeld;
using search::Standing;

namespace {

codegen::Schedule schedule(int tile) {
  codegen::Schedule schedule;
  schedule.stages.resize(1);
  schedule.stages[0].nest().tiles = {{tile}};
  return schedule;
}

search::Measurement measured(double ns, double ratio, double lo, double hi, size_t rounds = 31) {
  search::Measurement measurement;
  measurement.median_ns = ns;
  measurement.ratio = ratio;
  measurement.ratio_lo = lo;
  measurement.ratio_hi = hi;
  measurement.log_ratios.assign(rounds, std::log(ratio));
  return measurement;
}

/// Of finals in which schedule 1, the search's best with 1.07x, had `best`, and `winner` won.
search::TuneReport report_of(const search::Measurement& best, const search::Winner& winner) {
  search::TuneReport report;
  report.finals_held = FinalsHeld::Yes;
  report.default_measurement = measured(1000, 1, 1, 1);
  report.incumbent = schedule(1);
  report.incumbent_ratio = 1.07;
  report.finals = {search::Trial{0, 0, "final", {}, schedule(0), report.default_measurement},
                   search::Trial{1, 0, "final", {}, schedule(1), best}};
  report.winner = winner;
  return report;
}

const search::Winner kDefaultWon{schedule(0), measured(1000, 1, 1, 1), Standing::Default};

engine::Workload workload() {
  engine::Workload workload;
  workload.row.sizes_json = "{}";
  return workload;
}

std::string text_of(const search::TuneReport& report) {
  const engine::Workload program = workload();
  return summary_text({program, {}, report, 0, 0, 0, "", ""});
}

nlohmann::json json_of(const search::TuneReport& report) {
  const engine::Workload program = workload();
  return summary_json({program, {}, report, 0, 0, 0, "", ""});
}

}  // namespace

TEST_CASE("finals are said not to have confirmed the search's best only where it came out lower") {
  CHECK_THAT(text_of(report_of(measured(990, 1.01, 0.99, 1.03), kDefaultWon)),
             Contains("they did not confirm the search's best: 1.07x there, 1.01x here (95 % interval 0.99 to 1.03)"));
  const std::string higher = text_of(report_of(measured(920, 1.08, 0.98, 1.2), kDefaultWon));
  CHECK_THAT(higher, !Contains("did not confirm"));
  CHECK_THAT(higher, Contains("the search's best is not clearly faster than the default schedule: 1.07x there, 1.08x"));
  const std::string same = text_of(report_of(measured(935, 1.069, 0.99, 1.2), kDefaultWon));
  CHECK_THAT(same, !Contains("did not confirm"));
  const search::Winner other{schedule(2), measured(800, 1.25, 1.2, 1.3), Standing::New};
  const std::string won = text_of(report_of(measured(920, 1.08, 1.02, 1.2), other));
  CHECK_THAT(won, !Contains("did not confirm"));
  CHECK_THAT(won, Contains("another than the search's best won, which had 1.07x there, 1.08x here"));
  const search::Winner best{schedule(1), measured(920, 1.08, 1.02, 1.2), Standing::New};
  CHECK_THAT(text_of(report_of(best.measurement, best)), !Contains("search's best"));
}

TEST_CASE("the default schedule has no interval over itself") {
  CHECK_THAT(text_of(report_of(measured(990, 1.01, 0.99, 1.03), kDefaultWon)), Contains("speed-up  1.00x\n"));
}

TEST_CASE("a stored schedule that came out slower than the default is not called the best") {
  const search::Winner slower{schedule(1), measured(1300, 0.75, 0.12, 1.04), Standing::Previous};
  const std::string text = text_of(report_of(slower.measurement, slower));
  CHECK_THAT(text, !Contains("still the best"));
  CHECK_THAT(text, Contains("too busy to tell"));
  const search::Winner faster{schedule(1), measured(900, 1.1, 1.05, 1.2), Standing::Previous};
  CHECK_THAT(text_of(report_of(faster.measurement, faster)), Contains("the stored schedule is still the best"));
}

TEST_CASE("where there were no finals nothing is said of how busy the machine was in them") {
  auto report = report_of(measured(990, 1.01, 0.99, 1.03), kDefaultWon);
  report.winner->measurement.disturbed = true;
  CHECK_THAT(text_of(report), Contains("the machine was busy while the finalists were timed"));
  for (const auto held : {FinalsHeld::OneFinalist, FinalsHeld::NoTime}) {
    report.finals_held = held;
    CHECK_THAT(text_of(report), !Contains("while the finalists"));
  }
}

TEST_CASE("a speed-up says what its interval is made of, and where it is not the quotient of the times") {
  const auto line = [](const search::Measurement& won, FinalsHeld held = FinalsHeld::Yes) {
    auto report = report_of(won, {schedule(1), won, Standing::New});
    report.finals_held = held;
    return text_of(report);
  };
  CHECK_THAT(line(measured(1000 / 1.2, 1.2, 1.1, 1.3)), Contains("1.20x (95 % interval 1.10 to 1.30)"));
  CHECK_THAT(line(measured(1000 / 1.2, 1.2, 1.1, 1.3, 8)), Contains("to 1.30; there was time for 8 rounds)"));
  const std::string few = line(measured(1000 / 1.5, 1.5, 1.2, 1.8, 4), FinalsHeld::NoTime);
  CHECK_THAT(few, Contains("1.50x (between 1.20 and 1.80, as far as 4 rounds can tell)"));
  CHECK_THAT(few, !Contains("95 %"));
  const auto one = measured(1000 / 1.12, 1.12, 0, 0, 1);
  CHECK_THAT(line(one, FinalsHeld::NoTime), Contains("1.12x (in 1 round, of which no interval can be made)"));
  CHECK(json_of(report_of(one, {schedule(1), one, Standing::New}))["tuned"]["ratio_interval"].is_null());
  // Outside the interval, or 5 % off within a wide one.
  CHECK_THAT(line(measured(1000 / 1.62, 1.16, 1.1, 1.2)), Contains("; the median of ratios taken round by round"));
  CHECK_THAT(line(measured(1000 / 1.3, 1.2, 1.0, 1.5)), Contains("; the median of ratios taken round by round"));
  CHECK_THAT(line(measured(1000 / 1.22, 1.2, 1.1, 1.3)), !Contains("round by round"));
}

TEST_CASE("finals with too few rounds are said to have been broken off") {
  auto report = report_of(measured(990, 1.01, 0.99, 1.03), kDefaultWon);
  report.finals_held = FinalsHeld::NoTime;
  CHECK_THAT(text_of(report), Contains("left out, since the time was short; the search's best had 1.07x in its race"));
  report.final_rounds = 1;
  CHECK_THAT(text_of(report), Contains("broken off after 1 round, too few to decide"));
}

TEST_CASE("a share of the roof of too few rounds has no interval") {
  auto won = measured(900, 1.1, 1.05, 1.2);
  won.flop_fraction = won.peak_fraction = 0.861;
  const auto report = report_of(won, {schedule(1), won, Standing::New});
  CHECK_THAT(text_of(report), Contains("86.1 % of the FMA peak (in too few rounds for an interval"));
  CHECK(json_of(report)["tuned"]["fraction_of_roofline_interval"].is_null());
}

TEST_CASE("what is true of the machine is told once a command, whoever finds it how often") {
  std::vector<std::string> warnings, notices;
  const engine::Reporter report(engine::Listener{[&](const Diagnostic& one) { warnings.push_back(one.message); },
                                                 [&](const std::string& one) { notices.push_back(one); }});
  for (int program = 0; program < 84; ++program) {
    const auto onlooker = engine::plain_onlooker(report);
    onlooker.warn("the machine's timing lock cannot be used");
    onlooker.tell_waiting("waiting " + std::to_string(program) + " s");
  }
  CHECK(warnings == std::vector<std::string>{"the machine's timing lock cannot be used"});
  CHECK(notices == std::vector<std::string>{"waiting 0 s"});
  engine::plain_onlooker(report).warn("another");
  CHECK(warnings.size() == 2);
}

TEST_CASE("what was spent on a network's steps is told apart") {
  const engine::Workload program = workload();
  auto report = report_of(measured(1000, 1, 1, 1), kDefaultWon);
  report.seconds = {10, 6, 1, 2};
  const TuneSummary alone{program, {}, report, 0, 12, 0, "", ""}, network{program, {}, report, 0, 27, 15, "", ""};
  CHECK_THAT(summary_text(alone), Contains("12.0 s: 2.0 getting ready, 6.0 building"));
  CHECK_THAT(summary_text(network), Contains("27.0 s: 15.0 its steps, 2.0 getting ready, 6.0 building"));
  CHECK(summary_json(network)["steps_seconds"] == 15);
  CHECK(summary_json(network)["setup_seconds"] == 2);
}
