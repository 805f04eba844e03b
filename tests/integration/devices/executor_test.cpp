// Kernels on a device judged and timed as candidates are: right ones, wrong ones, those that leave their memory, those
// that do not end.
#include "search/judge/device_executor.h"

#include <catch2/catch.hpp>

#include "search/timing/race.h"
#include "tests/integration/devices/judge.h"
#include "tests/integration/devices/kernels.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;
using test::DeviceJudge;
using test::Doubling;
using test::has_device;

namespace {

namespace fs = std::filesystem;

constexpr double kCallSeconds = 30;  // of which the driver needs a few

fs::path doubling(const DeviceJudge& judge, Doubling kind) {
  const fs::path object = judge.folder.path() / ("doubling-" + std::to_string(static_cast<int>(kind)) + ".o");
  test::compile_doubling(kind, object);
  return object;
}

}  // namespace

TEST_CASE("kernels on a device are judged by the reference") {
  if (!has_device()) return;
  DeviceJudge judge;
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{13, 29}, {1, 1}, {64, 64}}) {
    INFO(rows << " x " << columns);
    const auto program = test::doubling(rows, columns);
    const auto right = judge.verified(program, doubling(judge, Doubling::Right));
    CHECK(right.reason == "");
    CHECK(right.outcome == Outcome::Ok);
    CHECK(judge.verified(program, doubling(judge, Doubling::InTwoSteps)).reason == "");
    const auto wrong = judge.verified(program, doubling(judge, Doubling::Wrong));
    CHECK(wrong.outcome == Outcome::Wrong);
    CHECK(wrong.reason.find("expected") != std::string::npos);
    const auto outside = judge.verified(program, doubling(judge, Doubling::Outside));
    CHECK(outside.outcome == Outcome::Wrong);
    CHECK(outside.reason == "it touched memory outside a");
  }
  const fs::path accumulating = judge.folder.path() / "accumulating.o";
  test::compile_accumulating(accumulating);
  CHECK(judge.verified(test::accumulating(1000), accumulating).reason == "");
}

TEST_CASE("a kernel that does not end on a device is a timeout") {
  if (!has_device()) return;
  DeviceJudge judge;
  constexpr double kSeconds = 4;
  CHECK(judge.verified(test::doubling(64, 64), doubling(judge, Doubling::Endless), kSeconds).outcome ==
        Outcome::Timeout);
}

TEST_CASE("a device that is not there is said to be missing") {
  DeviceJudge judge;
  judge.target.found.number = 63;
  const auto reply = judge.verified(test::doubling(3, 5), doubling(judge, Doubling::Right));
  CHECK(reply.outcome == Outcome::CompileError);
  CHECK(reply.reason.find("device 63") != std::string::npos);
}

TEST_CASE("kernels on a device race") {
  if (!has_device()) return;
  DeviceJudge judge;
  const auto problem = make_problem(test::doubling(100, 999), 7);
  REQUIRE(problem);
  const std::vector<fs::path> libraries = {doubling(judge, Doubling::Right), doubling(judge, Doubling::InTwoSteps)};
  const auto reply = judge.in_child([&](const Executor& executor, int reply_fd) {
    return race(executor, *problem, libraries, {}, Deadline::after(100), kCallSeconds, reply_fd);
  });
  REQUIRE(reply.reason == "");
  REQUIRE(reply.timings.size() == 2);
  for (const auto& timing : reply.timings) CHECK((timing.outcome == Outcome::Ok || timing.outcome == Outcome::Slow));
  CHECK_FALSE(reply.timings[0].samples_ns.empty());
  const auto last = judge.in_child([&](const Executor& executor, int reply_fd) {
    Finals few;
    few.rounds = 7;
    few.seconds = 0.1;
    return finals(executor, *problem, {libraries[0], libraries[1], doubling(judge, Doubling::Wrong)}, few,
                  Deadline::after(100), nullptr, kCallSeconds, reply_fd);
  });
  REQUIRE(last.timings.size() == 3);
  CHECK(last.timings[1].log_ratios.size() >= 6);
  CHECK(last.timings[1].flop_fractions.empty());
  CHECK_FALSE(last.timings[1].hurried);
  CHECK(last.timings[2].outcome == Outcome::Wrong);
}
