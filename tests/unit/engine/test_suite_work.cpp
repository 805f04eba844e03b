// What becomes of a suite's workloads when some fail.
#include <catch2/catch.hpp>

#include "engine/programs/suite.h"
#include "engine/programs/suite_work.h"

namespace tile_tune::engine {
namespace {

struct Told {
  std::vector<std::string> messages;
  Reporter reporter() {
    return Reporter({.diagnostic = [this](const Diagnostic& one) { messages.push_back(one.message); }});
  }
};

TEST_CASE("a workload that fails is told of by name, and the next one's turn comes") {
  Told told;
  const std::atomic<bool> stop{false};
  std::vector<size_t> done;
  const auto work = [&](size_t i) -> Result<void> {
    done.push_back(i);
    if (i == 0) return fail(ErrorClass::Verification, "default-failed", "nothing works");
    if (i == 2) return fail(ErrorClass::Failure, "no-finals", "third had no finals");
    return {};
  };
  const auto failed = work_through({"first", "second", "third", "fourth"}, work, stop, told.reporter());
  CHECK(done == std::vector<size_t>{0, 1, 2, 3});
  REQUIRE(failed.size() == 2);
  CHECK(failed[0].name == "first");
  CHECK(failed[0].why.message == "nothing works");
  CHECK(failed[1].name == "third");
  CHECK(told.messages == std::vector<std::string>{"first: nothing works", "third had no finals"});
  const Diagnostic all = incomplete_suite(failed[0].why, failed.size(), 4, "tuned");
  CHECK(all.message == "2 of the suite's 4 workloads were not tuned");
  CHECK(all.error_class == ErrorClass::Verification);
  CHECK(incomplete_suite(failed[0].why, 1, 4, "measured").message == "1 of the suite's 4 workloads was not measured");
}

TEST_CASE("what every other workload would fail of, too, ends a suite, and so does whoever stops it") {
  Told told;
  std::atomic<bool> stop{false};
  int calls = 0;
  const auto full = [&](size_t) -> Result<void> {
    ++calls;
    return failure("disk-full", "no space is left");
  };
  CHECK(work_through({"a", "b"}, full, stop, told.reporter()).size() == 1);
  CHECK(calls == 1);
  const auto stopping = [&](size_t) -> Result<void> {
    stop = true;
    return {};
  };
  calls = 0;
  CHECK(work_through({"a", "b"}, stopping, stop, told.reporter()).empty());
  CHECK(work_through({"a", "b"}, full, stop, told.reporter()).empty());
  CHECK(calls == 0);
  CHECK(concerns_all({ErrorClass::Target, "target-unavailable", "not here"}));
  CHECK_FALSE(concerns_all({ErrorClass::Mismatch, "too-large", "too large"}));
  CHECK_FALSE(concerns_all({ErrorClass::Failure, "out-of-memory", "this one is too large"}));
}

TEST_CASE("workloads that nobody wants are left out, and none that is wanted is an error") {
  std::vector<LoadedProgram> loaded(3);
  for (size_t i = 0; i < 3; ++i) {
    SuiteFigures& figures = loaded[i].suite.emplace();
    figures.name = std::string(1, static_cast<char>('a' + i));
    figures.group = "g";
  }
  auto some = loaded;
  REQUIRE(keep_wanted(some, {"b", "c*"}));
  REQUIRE(some.size() == 2);
  CHECK(some[0].suite->name == "b");
  CHECK(keep_wanted(loaded, {"g"}));
  CHECK(loaded.size() == 3);
  const auto none = keep_wanted(loaded, {"x", "y"});
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "no workload is named x or y, nor its group");
}

}  // namespace
}  // namespace tile_tune::engine
