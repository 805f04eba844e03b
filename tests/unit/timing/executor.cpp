// Judging and timing with an executor that runs nothing: what they need of a device, and that they need no more.
#include "search/judge/executor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "search/judge/verify.h"
#include "search/timing/race.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

constexpr int kUpsideDown = 7;
constexpr int kNobody = -1;  // is told of touched guards

/// What a kernel named so does to o = 2 * a.
struct Named final : PreparedKernel {
  explicit Named(std::string text) : name(std::move(text)) {}
  std::string name;
  mutable bool is_loaded = false;
  mutable int calls = 0;
  double ns() const { return std::stod(name); }  // "1000 wrong": of a call
  bool is(const char* what) const { return name.find(what) != std::string::npos; }
};

struct Arrays final : Memory {
  explicit Arrays(const Problem& of) : problem(of), out(tensor::Array::zeros(DType::F32, ir::shape(tensor()))) {}
  const ir::Tensor& tensor() const { return problem.program.tensors[1]; }
  bool fill_pages() const override { return false; }
  void prepare_outputs(std::byte pattern) override { std::fill(out.data.begin(), out.data.end(), pattern); }
  void restore() override {}
  void evict() const override {}
  tensor::Array output(int) const override { return out; }
  tensor::Array stored_output(int) const override { return out; }
  std::string trespass() const override { return has_trespassed ? "it wrote elsewhere" : ""; }

  const Problem& problem;
  tensor::Array out;
  bool has_trespassed = false;
};

struct Pretended final : Call {
  Pretended(const Named& what, Arrays& where, double loading) : kernel(what), arrays(where), loading_ns(loading) {}
  Timed run(int64_t calls) override {
    ++kernel.calls;
    if (kernel.is("fails")) return {kernel.ns(), kUpsideDown};
    const auto& in = arrays.problem.inputs.at(0);
    const int64_t count = in.element_count();
    for (int64_t i = 0; i < count; ++i) arrays.out.as<float>()[i] = 2 * in.as<float>()[i];
    if (kernel.is("wrong")) arrays.out.as<float>()[count - 1] += 1;
    arrays.has_trespassed = kernel.is("trespasses");
    return {kernel.ns() * static_cast<double>(calls) + (std::exchange(kernel.is_loaded, true) ? 0 : loading_ns), 0};
  }
  void evict() const override {}
  std::string trespass() const override { return ""; }

  const Named& kernel;
  Arrays& arrays;
  double loading_ns;
};

struct Pretender final : Executor {
  explicit Pretender(double loading = 0) : loading_ns(loading) {}
  Result<std::unique_ptr<PreparedKernel>> load(const std::filesystem::path& object) const override {
    if (object.string() == "absent") return failure("absent", "there is no such kernel");
    return std::make_unique<Named>(object.string());
  }
  std::unique_ptr<Memory> allocate(const Problem& problem, Flush) const override {
    return std::make_unique<Arrays>(problem);
  }
  std::unique_ptr<Call> bind(const ir::Program&, const PreparedKernel& kernel, Memory& memory, Flush) const override {
    return std::make_unique<Pretended>(static_cast<const Named&>(kernel), static_cast<Arrays&>(memory), loading_ns);
  }
  void watch_guards(const Memory*, int) const override {}
  bool first_call_loads() const override { return loading_ns > 0; }
  Reply fault(int code) const override { return Reply::fault(Outcome::RunError, "code " + std::to_string(code)); }

  double loading_ns;  // 0: loads before the first call
};

Problem doubling() {
  auto problem = make_problem(test::doubling(3, 5), 1);
  REQUIRE(problem);
  return *std::move(problem);
}

Reply verified(const std::string& name, double hopeless_ns = 0) {
  constexpr double kSeconds = 10;
  return verify(Pretender(), doubling(), Named(name), kSeconds, kNobody, hopeless_ns);
}

}  // namespace

TEST_CASE("a kernel is judged by what its executor says of it") {
  CHECK(verified("100").outcome == Outcome::Ok);
  CHECK(verified("100 wrong").outcome == Outcome::Wrong);
  CHECK_THAT(verified("100 wrong").reason, Catch::StartsWith("o[2, 4] is "));
  CHECK(verified("100 trespasses").reason == "it wrote elsewhere");
  const Reply failed = verified("100 fails");
  CHECK(failed.outcome == Outcome::RunError);
  CHECK(failed.reason == "code 7");
}

TEST_CASE("of a kernel of long calls one is made") {
  const auto calls = [](double hopeless_ns) {
    const Named kernel("100");
    CHECK(verify(Pretender(), doubling(), kernel, 10, kNobody, hopeless_ns).outcome == Outcome::Ok);
    return kernel.calls;
  };
  CHECK(calls(0) == 3);  // flush with either guard, and on special numbers
  CHECK(calls(100) == 1);
  CHECK(verified("101 wrong", 100).outcome == Outcome::Wrong);
  const Reply slow = verified("101", 100);
  CHECK(slow.outcome == Outcome::Slow);
  REQUIRE(slow.timings.size() == 1);
  CHECK(slow.timings[0].samples_ns == std::vector<double>{101});
}

TEST_CASE("of long calls each counts, and who falls behind is called no more") {
  Race protocol;
  protocol.seconds_per_kernel = 0;
  constexpr double kSeconds = 10;
  const Reply reply = race(Pretender(), doubling(), {"80e6", "64e6", "79e6 wrong", "70e6", "129e6"}, protocol,
                           Deadline(), kSeconds, kNobody);
  REQUIRE(reply.timings.size() == 5);
  // Two rounds with the first calls of all.
  CHECK(reply.timings[0].samples_ns == std::vector<double>(2, 80e6));
  CHECK(reply.timings[1].samples_ns == std::vector<double>(2, 64e6));
  CHECK(reply.timings[3].samples_ns == std::vector<double>(2, 70e6));
  for (const double ratio : reply.timings[1].log_ratios) CHECK(ratio == Approx(std::log(80.0 / 64)));
  // More than a fifth behind the best: one round, and no last look at what it computes.
  CHECK(reply.timings[2].outcome == Outcome::Ok);
  CHECK(reply.timings[2].samples_ns == std::vector<double>{79e6});
  CHECK(reply.timings[4].outcome == Outcome::Slow);
  CHECK(reply.timings[4].log_ratios.size() == 1);
}

TEST_CASE("what loading takes is no part of a kernel's first call") {
  constexpr double kLoading = 300e6, kSeconds = 10;
  CHECK(verify(Pretender(kLoading), doubling(), Named("60e6"), kSeconds, kNobody, 61e6).outcome == Outcome::Ok);
  Race protocol;
  protocol.seconds_per_kernel = 0.001;
  const Reply reply =
      race(Pretender(kLoading), doubling(), {"2e6", "1e6", "1.5e6 wrong"}, protocol, Deadline(), kSeconds, kNobody);
  REQUIRE(reply.timings.size() == 3);
  CHECK(reply.timings[1].samples_ns.size() >= 3);
  for (const double ns : reply.timings[1].samples_ns) CHECK(ns == Approx(1e6));
  CHECK(reply.timings[2].outcome == Outcome::Wrong);
}

TEST_CASE("kernels are raced by the times that their executor takes") {
  Race protocol;
  protocol.seconds_per_kernel = 0.001;
  constexpr double kSeconds = 10;
  const Reply reply = race(Pretender(), doubling(), {"2e6", "1e6", "4e6 fails", "absent", "9e6", "1.5e6 wrong"},
                           protocol, Deadline(), kSeconds, kNobody);
  REQUIRE(reply.timings.size() == 6);
  CHECK(reply.timings[0].outcome == Outcome::Ok);
  CHECK(reply.timings[1].outcome == Outcome::Ok);
  REQUIRE_FALSE(reply.timings[1].samples_ns.empty());
  for (const double ns : reply.timings[1].samples_ns) CHECK(ns == Approx(1e6));
  for (const double ratio : reply.timings[1].log_ratios) CHECK(ratio == Approx(std::log(2.0)));
  CHECK(reply.timings[2].outcome == Outcome::RunError);
  CHECK(reply.timings[2].reason == "code 7");
  CHECK(reply.timings[3].outcome == Outcome::CompileError);
  CHECK(reply.timings[3].reason == "there is no such kernel");
  CHECK(reply.timings[4].outcome == Outcome::Slow);
  CHECK(reply.timings[5].outcome == Outcome::Wrong);
  CHECK_THAT(reply.timings[5].reason, Catch::StartsWith("after many calls o[2, 4] is "));
}
