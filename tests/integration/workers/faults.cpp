// Whatever a candidate does is an outcome of that candidate alone.
#include <catch2/catch.hpp>
#include <cmath>

#include "search/workers/workers.h"
#include "tests/integration/workers/forced_backend.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;
using test::Behaviour;
using test::scheduled;

namespace {

WorkerOptions faulty_options(const std::string& marker = "") {
  WorkerOptions options;
  options.command = {"/proc/self/exe", "forced-worker", marker};
  options.target.cpu_model = "forced";
  options.jobs = 2;
  options.limits = {10, 1, 512 << 20};
  options.race_seconds_per_kernel = 0.005;
  options.finals_seconds = 0;
  return options;
}

std::unique_ptr<Workers> start(const WorkerOptions& options, Behaviour as_default = Behaviour::Good) {
  auto workers = Workers::start(test::doubling(7, 31), scheduled(as_default), options);
  INFO((workers ? "" : workers.error().message));
  REQUIRE(workers);
  return std::move(*workers);
}

Measurement measure_one(const WorkerOptions& options, Behaviour behaviour) {
  std::vector<Measurement> result;
  // On a busy machine all of a short kernel's first calls may take several times as long.
  for (int attempt = 0; attempt == 0 || (attempt < 5 && result[1].outcome == Outcome::Slow); ++attempt) {
    const auto workers = start(options);
    result = workers->measure({scheduled(behaviour), scheduled(Behaviour::AlsoGood)}, scheduled(Behaviour::Good));
    REQUIRE(result.size() == 2);
  }
  CAPTURE(result[1].reason);
  CHECK(result[1].outcome == Outcome::Ok);  // the good one beside it is timed all the same
  CHECK(result[1].samples_ns.size() >= 3);
  CHECK(result[1].median_ns > 0);
  CHECK(result[1].ratio > 0.2);
  CHECK(result[1].ratio < 5);
  return result[0];
}

}  // namespace

TEST_CASE("faults in compiling") {
  auto options = faulty_options();
  auto measurement = measure_one(options, Behaviour::AbortInCompile);
  CHECK(measurement.outcome == Outcome::CompileError);
  CHECK(measurement.reason == "the compiler died: killed by SIGABRT: Assertion `isSane()' failed.");
  CHECK(measurement.samples_ns.empty());
  measurement = measure_one(options, Behaviour::CompileDiagnostic);
  CHECK(measurement.outcome == Outcome::CompileError);
  CHECK(measurement.reason == "the loop nest is too deep");
  measurement = measure_one(options, Behaviour::MemoryInCompile);
  CHECK(measurement.outcome == Outcome::OutOfMemory);
  options.limits.build_seconds = 0.8;
  measurement = measure_one(options, Behaviour::HangInCompile);
  CHECK(measurement.outcome == Outcome::Timeout);
}

TEST_CASE("the time limit of candidates does not cost the default schedule") {
  auto options = faulty_options();
  options.limits.build_seconds = 2;  // four times as long by the clock, which a busy machine needs for a good one
  const auto measurement = measure_one(options, Behaviour::BusyInCompile);
  CHECK(measurement.outcome == Outcome::Timeout);
  CHECK(measurement.reason == "compiling took longer than 2 s");
  const auto workers = start(options, Behaviour::BusyInCompile);
  const auto result = workers->measure({scheduled(Behaviour::Good)}, scheduled(Behaviour::BusyInCompile));
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::Ok);
  CHECK(result[0].ratio > 0);
}

TEST_CASE("a candidate may not take several times as long to compile as the default") {
  auto options = faulty_options();
  options.least_build_seconds = 2;
  const auto quick = start(options, Behaviour::Good);
  const auto measure = [](search::Workers& workers, Behaviour candidate, Behaviour incumbent) {
    return workers.measure({scheduled(candidate)}, scheduled(incumbent)).at(0);
  };
  CHECK(measure(*quick, Behaviour::AlsoGood, Behaviour::Good).outcome == Outcome::Ok);
  const auto late = measure(*quick, Behaviour::BusyInCompile, Behaviour::Good);
  CHECK(late.outcome == Outcome::Timeout);
  CHECK(late.reason.find("compiling took longer than ") == 0);
  options.least_build_seconds = 6;
  const auto patient = start(options, Behaviour::Good);
  CHECK(measure(*patient, Behaviour::AlsoGood, Behaviour::Good).outcome == Outcome::Ok);
  CHECK(measure(*patient, Behaviour::BusyInCompile, Behaviour::Good).outcome == Outcome::Ok);
}

TEST_CASE("faults in running") {
  auto options = faulty_options();
  auto measurement = measure_one(options, Behaviour::SegfaultInRun);
  CHECK(measurement.outcome == Outcome::Crash);
  CHECK(measurement.reason == "killed by SIGSEGV");
  measurement = measure_one(options, Behaviour::ErrorCode);
  CHECK(measurement.outcome == Outcome::RunError);
  CHECK(measurement.reason == "it returned error code -7: the input is upside down");
  measurement = measure_one(options, Behaviour::MemoryInRun);
  CHECK(measurement.outcome == Outcome::OutOfMemory);
  options.limits.run_seconds = 0.1;
  measurement = measure_one(options, Behaviour::HangInRun);
  CHECK(measurement.outcome == Outcome::Timeout);
}

TEST_CASE("wrong results") {
  const auto options = faulty_options();
  auto measurement = measure_one(options, Behaviour::WrongValue);
  CHECK(measurement.outcome == Outcome::Wrong);
  CHECK(measurement.reason.find("o[3, 15] is ") == 0);  // element 108 of 7 x 31
  CHECK(measurement.reason.find("1 of 217 elements checked differ") != std::string::npos);
  CHECK(measurement.verify_error > 1);
  measurement = measure_one(options, Behaviour::LeaveOneOut);
  CHECK(measurement.outcome == Outcome::Wrong);
  CHECK(measurement.reason.find("o[6, 30]") == 0);
  measurement = measure_one(options, Behaviour::ChangeInput);
  CHECK(measurement.outcome == Outcome::Wrong);
  CHECK(measurement.reason == "it changed its input a");
}

TEST_CASE("of long calls one is judged, and the rest before anything is kept") {
  auto options = faulty_options();
  options.limits.run_seconds = 5;
  std::unique_ptr<Workers> workers;
  std::vector<Measurement> result;
  const auto are_told_apart = [&] {
    return result[0].outcome == Outcome::Slow && result[2].outcome == Outcome::Ok && result[3].outcome == Outcome::Slow;
  };
  // On a busy machine a call may take as long as one that is to be slower.
  for (int attempt = 0; attempt == 0 || (attempt < 4 && !are_told_apart()); ++attempt) {
    workers = start(options, Behaviour::Long);
    REQUIRE(workers->measure({scheduled(Behaviour::Long)}, scheduled(Behaviour::Long)).size() == 1);
    result = workers->measure({scheduled(Behaviour::LongSlower), scheduled(Behaviour::LongWrongOfNan),
                               scheduled(Behaviour::LongFaster), scheduled(Behaviour::LongBehind)},
                              scheduled(Behaviour::Long));
    REQUIRE(result.size() == 4);
  }
  CHECK(result[0].outcome == Outcome::Slow);
  CHECK(result[0].samples_ns.size() == 1);
  CHECK(result[1].outcome == Outcome::Wrong);
  CHECK_THAT(result[1].reason, Catch::EndsWith("where inputs hold zeros, infinities, NaN or subnormal numbers"));
  CHECK(result[2].outcome == Outcome::Ok);
  CHECK(result[2].ratio > 1);
  CHECK(result[3].outcome == Outcome::Slow);
  const auto last =
      workers->finals({scheduled(Behaviour::Long), scheduled(Behaviour::LongFaster), scheduled(Behaviour::LongBehind)});
  REQUIRE(last.size() == 3);
  CHECK(last[1].outcome == Outcome::Ok);
  CHECK(last[2].outcome == Outcome::Wrong);
}

TEST_CASE("memory beside the buffers is off limits") {
  const auto options = faulty_options();
  for (const auto behaviour : {Behaviour::WriteBehind, Behaviour::WriteBefore}) {
    const auto measurement = measure_one(options, behaviour);
    CHECK(measurement.outcome == Outcome::Wrong);
    CHECK(measurement.reason.find("outside o") != std::string::npos);
  }
  const auto measurement = measure_one(options, Behaviour::ReadBehind);
  CHECK(measurement.outcome == Outcome::Wrong);
  CHECK(measurement.reason == "it touched memory outside a");
}

TEST_CASE("an element that is never written is found even where only a sample is compared") {
  const auto workers = Workers::start(test::doubling(2048, 1025), scheduled(Behaviour::Good), faulty_options());
  REQUIRE(workers);
  const auto result = (*workers)->measure({scheduled(Behaviour::LeaveOneOut)}, scheduled(Behaviour::Good));
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::Wrong);
}

TEST_CASE("what goes wrong only in the race is blamed on the guilty one") {
  const auto options = faulty_options();
  auto measurement = measure_one(options, Behaviour::WrongLater);
  CHECK(measurement.outcome == Outcome::Wrong);
  CHECK(measurement.reason.find("after many calls o[0, 0] is ") == 0);
  measurement = measure_one(options, Behaviour::CrashLater);
  CHECK(measurement.outcome == Outcome::Crash);
}

TEST_CASE("of two in a race the one that crashes is blamed, and the default is timed") {
  const auto workers = start(faulty_options());
  const auto check = [](const std::vector<Measurement>& result) {
    REQUIRE(result.size() == 2);
    CHECK(result[0].outcome == Outcome::Ok);
    CHECK(result[0].samples_ns.size() >= 3);
    CHECK(result[1].outcome == Outcome::Crash);
    CHECK(result[1].reason == "killed by SIGABRT");
    CHECK(result[1].samples_ns.empty());
  };
  check(workers->measure({scheduled(Behaviour::Good), scheduled(Behaviour::CrashLater)}, scheduled(Behaviour::Good)));
  check(start(faulty_options())->finals({scheduled(Behaviour::Good), scheduled(Behaviour::CrashLater)}));
}

TEST_CASE("a slow candidate is dropped in screening, with the ratio seen there") {
  const auto measurement = measure_one(faulty_options(), Behaviour::Sluggish);
  CHECK(measurement.outcome == Outcome::Slow);
  CHECK(measurement.samples_ns.size() == 3);
  CHECK(measurement.ratio > 0);
  CHECK(measurement.ratio < 1.0 / 3);
}

TEST_CASE("the default schedule in a batch has ratio 1; the same code twice is a duplicate") {
  const auto workers = start(faulty_options());
  auto twin = scheduled(Behaviour::AlsoGood);
  twin.stages[0].nest().cpu().lanes = 4;
  auto result =
      workers->measure({scheduled(Behaviour::Good), scheduled(Behaviour::AlsoGood), twin}, scheduled(Behaviour::Good));
  REQUIRE(result.size() == 3);
  CHECK(result[0].outcome == Outcome::Ok);
  CHECK(result[0].ratio == 1);
  CHECK(result[0].verify_error == 0);
  CHECK(result[1].outcome == Outcome::Ok);
  CHECK(result[2].outcome == Outcome::Duplicate);
  CHECK(result[2].ratio == result[1].ratio);
  CHECK(result[2].code_hash == result[1].code_hash);
  CHECK(result[2].samples_ns.empty());
  twin.stages[0].nest().cpu().lanes = 8;
  result = workers->measure({twin}, scheduled(Behaviour::AlsoGood));
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::Duplicate);
}

TEST_CASE("without a default that works candidates are judged but not timed") {
  const auto workers = start(faulty_options(), Behaviour::WrongValue);
  const auto result = workers->measure({scheduled(Behaviour::WrongValue), scheduled(Behaviour::Good)},
                                       scheduled(Behaviour::WrongValue));
  REQUIRE(result.size() == 2);
  CHECK(result[0].outcome == Outcome::Wrong);
  CHECK(result[1].outcome == Outcome::Ok);
  CHECK(result[1].ratio == 0);
}

// The probes share this machine with whatever else runs: where they came out slower than the kernel, twice, its shares
// are unknown. What a share is computed from is tested without a clock in tests/unit/timing.
TEST_CASE("finals report at least 31 pairs, intervals, and shares of the roofline unless the probes were disturbed") {
  const bool from_memory = GENERATE(false, true);
  auto options = faulty_options();
  options.target.l3_bytes = from_memory ? 0 : 1 << 20;  // smaller or larger than the program's tensors
  const auto workers = start(options);
  const auto result = workers->finals({scheduled(Behaviour::Good), scheduled(Behaviour::AlsoGood),
                                       scheduled(Behaviour::CrashLater), scheduled(Behaviour::WrongValue)});
  REQUIRE(result.size() == 4);
  CHECK(result[0].ratio == 1);
  for (int i : {0, 1}) {
    CHECK(result[i].outcome == Outcome::Ok);
    CHECK(result[i].samples_ns.size() >= 31);
    CHECK(result[i].ratio_lo <= result[i].ratio);
    CHECK(result[i].ratio_hi >= result[i].ratio);
    CHECK((result[i].flop_fraction > 0) == !result[i].roof_unknown);
    CHECK((result[i].bandwidth_fraction > 0) == (from_memory && !result[i].roof_unknown));
    CHECK(result[i].peak_fraction == std::max(result[i].flop_fraction, result[i].bandwidth_fraction));
    CHECK(result[i].peak_fraction_lo <= result[i].peak_fraction);
    CHECK(result[i].peak_fraction_hi >= result[i].peak_fraction);
  }
  CHECK(result[2].outcome == Outcome::Crash);
  CHECK(result[3].outcome == Outcome::Wrong);
}

TEST_CASE("a small variant is checked where the big one is only sampled") {
  auto options = faulty_options();
  bool asked = false;
  options.small_variant = [&](const ir::Program&, const codegen::Schedule& schedule) {
    asked = true;
    // Stands for a schedule whose structure is wrong where no tile divides.
    return schedule == scheduled(Behaviour::AlsoGood)
               ? std::make_optional(std::make_pair(test::doubling(3, 5), scheduled(Behaviour::WrongValue)))
               : std::nullopt;
  };
  const auto workers = Workers::start(test::doubling(2048, 1025), scheduled(Behaviour::Good), options);
  REQUIRE(workers);
  const auto result = (*workers)->measure({scheduled(Behaviour::AlsoGood)}, scheduled(Behaviour::Good));
  REQUIRE(result.size() == 1);
  CHECK(asked);
  CHECK(result[0].outcome == Outcome::Wrong);
  CHECK(result[0].reason.find("at a small odd size: o[1, 2] is ") == 0);
  asked = false;
  const auto small = Workers::start(test::doubling(7, 31), scheduled(Behaviour::Good), options);
  REQUIRE(small);
  CHECK((*small)->measure({scheduled(Behaviour::AlsoGood)}, scheduled(Behaviour::Good)).at(0).outcome == Outcome::Ok);
  CHECK_FALSE(asked);
}
