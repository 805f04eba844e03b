#include "search/workers/protocol.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "frontend/ir/json.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

template <typename T>
T round_trip(const T& request) {
  const std::string line = encode(Request(request));
  CHECK(line.find('\n') == std::string::npos);
  auto decoded = decode_request(line);
  REQUIRE(decoded);
  REQUIRE(std::holds_alternative<T>(*decoded));
  return std::get<T>(*decoded);
}

}  // namespace

TEST_CASE("requests survive the wire") {
  codegen::Target target = codegen::parse_target("x86-64-linux-avx2").value();
  target.threads = 3;
  const Setup setup = round_trip(Setup{"/tmp/a b", target, {1.5, 2.5, 1ll << 40}});
  CHECK(setup.directory == "/tmp/a b");
  CHECK(setup.target == target);
  CHECK(setup.limits.build_seconds == 1.5);
  CHECK(setup.limits.run_seconds == 2.5);
  CHECK(setup.limits.memory_bytes == 1ll << 40);

  codegen::NestSchedule stage;
  stage.tiles = {{8, 4}, {16, 16}};
  stage.order = {{0, 1}, {1, 0}};
  const Build build = round_trip(Build{"problem-0", {{stage}}, "kernel-1.so", 7.5});
  CHECK(build.schedule == codegen::Schedule{{stage}});
  CHECK(build.library == "kernel-1.so");
  CHECK(build.seconds == 7.5);
  CHECK(round_trip(BuildRuntime{"rt.so"}).library == "rt.so");
  const auto automatic = round_trip(BuildAutoscheduled{"problem-1", "Adams2019", "kernel-2.so"});
  CHECK(automatic.problem == "problem-1");
  CHECK(automatic.scheduler == "Adams2019");
  CHECK(automatic.library == "kernel-2.so");
  CHECK(round_trip(Verify{"p", "rt", "k", 7e7}).runtime == "rt");
  CHECK(round_trip(Verify{"p", "rt", "k", 7e7}).hopeless_ns == 7e7);
  CHECK(round_trip(Run{"p", "rt", "k"}).library == "k");
  const auto program = test::doubling(3, 5);
  const auto make = round_trip(MakeProblem{"p", program, UINT64_MAX, test::doubling(1, 2), 0.5});
  CHECK(ir::to_json(make.program) == ir::to_json(program));
  CHECK(make.seed == UINT64_MAX);
  REQUIRE(make.written);
  CHECK(ir::to_json(*make.written) == ir::to_json(test::doubling(1, 2)));
  CHECK(make.whole_seconds == 0.5);
  CHECK_FALSE(round_trip(MakeProblem{"p", program}).written);
  const Race race = round_trip(Race{"p", "rt", {"a", "b"}, 2, UINT64_MAX, 0.125, 7});
  CHECK(race.at_most == 7);
  CHECK(race.libraries == std::vector<std::string>{"a", "b"});
  CHECK(race.exempt == 2);
  CHECK(race.seed == UINT64_MAX);
  CHECK(race.seconds_per_kernel == 0.125);
  const Finals finals = round_trip(Finals{"p", "rt", {"a"}, 9, 33, 0.5, 1.5});
  CHECK(finals.at_most == 1.5);
  CHECK(finals.rounds == 33);
  CHECK(finals.seconds == 0.5);
  round_trip(Quit{});
}

TEST_CASE("replies survive the wire, with infinite errors and messages that are no UTF-8") {
  Reply reply;
  reply.outcome = Outcome::Wrong;
  reply.reason = "bad \xff byte\nand a second line";
  reply.code_hash = "abc";
  reply.compile_ms = 12.5;
  reply.verify_error = std::numeric_limits<double>::infinity();
  reply.timings.push_back({Outcome::Slow, "slow", {1.0, 2.0}, {-1.5}, {0.5}, {0.25}, 3, 7});
  reply.timings.back().hurried = true;
  reply.note = "narrowed";
  reply.sampled = true;
  reply.error = Diagnostic{ErrorClass::Mismatch, "code", "message", std::nullopt, "note"};
  const std::string line = encode(reply);
  CHECK(line.find('\n') == std::string::npos);
  const auto decoded = decode_reply(line);
  REQUIRE(decoded);
  CHECK(decoded->outcome == Outcome::Wrong);
  CHECK(decoded->reason.find("second line") != std::string::npos);
  CHECK(decoded->code_hash == "abc");
  CHECK(decoded->timings.back().hurried);
  CHECK(decoded->note == "narrowed");
  CHECK(decoded->sampled);
  REQUIRE(decoded->error);
  CHECK(decoded->error->error_class == ErrorClass::Mismatch);
  CHECK(decoded->error->code + decoded->error->message + decoded->error->note == "codemessagenote");
  CHECK(decoded->compile_ms == 12.5);
  CHECK(std::isinf(decoded->verify_error));
  REQUIRE(decoded->timings.size() == 1);
  CHECK(decoded->timings[0].outcome == Outcome::Slow);
  CHECK(decoded->timings[0].samples_ns == std::vector<double>{1, 2});
  CHECK(decoded->timings[0].log_ratios == std::vector<double>{-1.5});
  CHECK(decoded->timings[0].flop_fractions == std::vector<double>{0.5});
  CHECK(decoded->timings[0].bandwidth_fractions == std::vector<double>{0.25});
  CHECK(decoded->timings[0].switched == 3);
  CHECK(decoded->timings[0].left_out == 7);
}

TEST_CASE("what is no message of this version is refused with a reason") {
  CHECK_FALSE(decode_request(""));
  CHECK_FALSE(decode_request("{"));
  CHECK_FALSE(decode_request("[]"));
  CHECK_FALSE(decode_request(R"({"version": 1, "kind": "dance"})"));
  CHECK_FALSE(decode_request(R"({"version": 1, "kind": "verify", "problem": "p"})"));
  CHECK_FALSE(decode_request(R"({"version": 1, "kind": "verify", "problem": 3, "runtime": "", "library": ""})"));
  const auto newer = decode_request(R"({"version": 99, "kind": "quit"})");
  REQUIRE_FALSE(newer);
  CHECK(newer.error().message.find("version 99") != std::string::npos);
  CHECK_FALSE(decode_reply(R"({"version": 1, "outcome": "excellent"})"));
}

TEST_CASE("every outcome has a name of its own") {
  for (int i = 0; i <= static_cast<int>(Outcome::Slow); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    CHECK(parse_outcome(outcome_name(outcome)) == outcome);
  }
  CHECK(std::string(outcome_name(Outcome::OutOfMemory)) == "out-of-memory");
  CHECK_FALSE(parse_outcome("fine"));
}
