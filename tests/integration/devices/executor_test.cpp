// Kernels on a device judged and timed as candidates are: right ones, wrong ones, those that leave their memory, those
// that do not end.
#include "search/judge/device_executor.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/temporary_directory.h"
#include "codegen/target/host.h"
#include "search/judge/kernel.h"
#include "search/judge/verify.h"
#include "search/timing/race.h"
#include "search/workers/child.h"
#include "search/workers/device_query.h"
#include "search/workers/object_check.h"
#include "tests/integration/devices/kernels.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;
using test::Doubling;

namespace {

namespace fs = std::filesystem;

constexpr int kNobody = -1;
constexpr double kCallSeconds = 30;  // of which the driver needs a few

/// A folder with the runtime that kernels need, and the target of device 0.
struct Judge {
  base::TemporaryDirectory folder =
      base::TemporaryDirectory::create(fs::temp_directory_path(), "tile-tune-test-").value();
  fs::path runtime = build_runtime(folder.path()).value();
  codegen::Target target = codegen::describe_target("host-opencl", 2).value();

  Judge() { target.device_number = 0; }

  Reply in_child(const std::function<Reply(const Executor&, int)>& work) {
    keep_driver_cache(target, folder.path());
    const auto limits = limits_of_calls({}, target, test::doubling(1, 1), kCallsInVerify);
    return run_in_child(limits, kNobody,
                        [&](int reply_fd) {
                          const auto loaded = Runtime::load(runtime, 1);
                          REQUIRE(loaded);
                          return work(*executor_for(target), reply_fd);
                        })
        .value();
  }
  Reply verified(const ir::Program& program, const fs::path& object, double seconds = kCallSeconds) {
    const auto problem = make_problem(program, 7);
    REQUIRE(problem);
    return in_child([&](const Executor& executor, int reply_fd) {
      const auto kernel = executor.load(object);
      if (!kernel) return Reply::fault(Outcome::CompileError, kernel.error().message);
      return verify(executor, *problem, **kernel, seconds, reply_fd);
    });
  }
  fs::path doubling(Doubling kind) {
    const fs::path object = folder.path() / ("doubling-" + std::to_string(static_cast<int>(kind)) + ".o");
    test::compile_doubling(kind, object);
    return object;
  }
};

/// Asked in a child: this process must not start the driver.
bool has_device() {
  const Reply reply = *run_in_child({.limits_addresses = false}, kNobody, [](int) {
    const auto answer = answer_device_query("opencl", 0);
    return answer.contains("error") ? Reply::fault(Outcome::RunError, answer["error"]) : Reply{};
  });
  if (reply.outcome == Outcome::Ok) return true;
  std::cout << "skipped: " << reply.reason << '\n';
  return false;
}

}  // namespace

TEST_CASE("kernels on a device are judged by the reference") {
  if (!has_device()) return;
  Judge judge;
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{13, 29}, {1, 1}, {64, 64}}) {
    INFO(rows << " x " << columns);
    const auto program = test::doubling(rows, columns);
    const auto right = judge.verified(program, judge.doubling(Doubling::Right));
    CHECK(right.reason == "");
    CHECK(right.outcome == Outcome::Ok);
    CHECK(judge.verified(program, judge.doubling(Doubling::InTwoSteps)).reason == "");
    const auto wrong = judge.verified(program, judge.doubling(Doubling::Wrong));
    CHECK(wrong.outcome == Outcome::Wrong);
    CHECK(wrong.reason.find("expected") != std::string::npos);
    const auto outside = judge.verified(program, judge.doubling(Doubling::Outside));
    CHECK(outside.outcome == Outcome::Wrong);
    CHECK(outside.reason == "it touched memory outside a");
  }
  const fs::path accumulating = judge.folder.path() / "accumulating.o";
  test::compile_accumulating(accumulating);
  CHECK(judge.verified(test::accumulating(1000), accumulating).reason == "");
}

TEST_CASE("a kernel that does not end on a device is a timeout") {
  if (!has_device()) return;
  Judge judge;
  constexpr double kSeconds = 4;
  CHECK(judge.verified(test::doubling(64, 64), judge.doubling(Doubling::Endless), kSeconds).outcome ==
        Outcome::Timeout);
}

TEST_CASE("a device that is not there is said to be missing") {
  Judge judge;
  judge.target.device_number = 63;
  const auto reply = judge.verified(test::doubling(3, 5), judge.doubling(Doubling::Right));
  CHECK(reply.outcome == Outcome::CompileError);
  CHECK(reply.reason.find("device 63") != std::string::npos);
}

TEST_CASE("kernels on a device race") {
  if (!has_device()) return;
  Judge judge;
  const auto problem = make_problem(test::doubling(100, 999), 7);
  REQUIRE(problem);
  const std::vector<fs::path> libraries = {judge.doubling(Doubling::Right), judge.doubling(Doubling::InTwoSteps),
                                           judge.doubling(Doubling::Wrong)};
  const auto reply = judge.in_child([&](const Executor& executor, int reply_fd) {
    return race(executor, *problem, libraries, {}, Deadline::after(100), kCallSeconds, reply_fd);
  });
  REQUIRE(reply.reason == "");
  REQUIRE(reply.timings.size() == 3);
  for (const auto& timing : {reply.timings[0], reply.timings[1]})
    CHECK((timing.outcome == Outcome::Ok || timing.outcome == Outcome::Slow));
  CHECK_FALSE(reply.timings[0].samples_ns.empty());
  CHECK((reply.timings[2].outcome == Outcome::Wrong || reply.timings[2].outcome == Outcome::Slow));
  const auto last = judge.in_child([&](const Executor& executor, int reply_fd) {
    return finals(executor, *problem, {libraries[0], libraries[1]}, {.rounds = 7, .seconds = 0.1}, Deadline::after(100),
                  nullptr, kCallSeconds, reply_fd);
  });
  REQUIRE(last.timings.size() == 2);
  CHECK(last.timings[1].log_ratios.size() >= 6);
  CHECK(last.timings[1].flop_fractions.empty());
  CHECK_FALSE(last.timings[1].hurried);
}
