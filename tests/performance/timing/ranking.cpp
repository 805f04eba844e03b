// Two kernels 10 % apart are ranked rightly in at least 95 % of repetitions while another process keeps one core busy
// all the time, and the machine is said to be busy.
//
// The kernels are chains of dependent multiplications, so that how long they take follows from a number of steps; they
// are built, verified and timed as candidates are, in worker processes (of this program), on Halide's thread pool.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "codegen/lower/halide_backend.h"
#include "codegen/target/host.h"
#include "search/evolve/finals.h"
#include "search/workers/worker.h"
#include "search/workers/workers.h"
#include "tests/unit/judge/programs.h"
#include "tests/run_tests.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

constexpr int kRepetitions = 40;
constexpr double kRightShare = 0.95;

// Hundredths of the time of the faster kernel.
constexpr int kFast = 100, kTenPercentSlower = 110, kDefault = 130;

// A multiplication and an addition that wait for each other take 8 cycles on x86 since Skylake; at about 4 GHz.
constexpr double kNsAStep = 2;

/// A kernel that takes `hundredths` of `microseconds` on each of `threads`.
codegen::Schedule lasting(int hundredths, int microseconds, int threads) {
  codegen::NestSchedule stage;
  stage.reduction_unroll = {hundredths, microseconds, threads};
  return {{stage}};
}

std::string kernel_source(const std::string& function, const std::vector<int>& what) {
  const double steps = what[0] / 100.0 * what[1] * 1000 / kNsAStep;
  return fmt::format(R"(
#include <HalideRuntime.h>
static volatile double sink[64];
static int part(void* context, int task, uint8_t* closure) {{
  double x = 1;
  for (long i = 0; i < {}L; ++i) x = x * 0.999 + 0.001;
  sink[task] = x;
  return 0;
}}
int {}_argv(void** args) {{
  struct halide_buffer_t *in = args[0], *out = args[1];
  long n = 1;
  for (int d = 0; d < out->dimensions; ++d) n *= out->dim[d].extent;
  for (long i = 0; i < n; ++i) ((float*)out->host)[i] = 2 * ((float*)in->host)[i];
  return {} > 1 ? halide_do_par_for(0, part, 0, {}, 0) : part(0, 0, 0);
}}
)",
                     static_cast<long>(steps), function, what[2], what[2]);
}

Result<codegen::Compiled> compile(const ir::Program&, const codegen::Schedule& schedule, const codegen::Target&,
                                  const std::string& function, const std::filesystem::path& object) {
  const std::vector<int> what = schedule.stages.at(0).nest().reduction_unroll;
  const std::string source = object.string() + ".c", include = std::string("-I") + TEST_HALIDE_INCLUDE;
  std::ofstream(source) << kernel_source(function, what);
  const char* arguments[] = {TEST_C_COMPILER, "-O1",          "-fPIC", "-w", include.c_str(), "-c", "-o",
                             object.c_str(),  source.c_str(), nullptr};
  pid_t compiler = 0;
  int status = 1;
  if (posix_spawnp(&compiler, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environ) == 0)
    waitpid(compiler, &status, 0);
  if (status != 0) return failure("cc-failed", "the C compiler failed");
  return codegen::Compiled{fmt::format("{}-{}-{}", what[0], what[1], what[2]), 0, 0};
}

/// Keeps the first core busy while it lives.
class Load {
 public:
  Load() : process_(fork()) {
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(codegen::available_cores().front(), &set);
    sched_setaffinity(0, sizeof set, &set);
    for (std::atomic<long> spins = 0;;) ++spins;
  }
  ~Load() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  pid_t process_;
};

struct Scenario {
  int threads;
  int microseconds;
};

std::unique_ptr<Workers> start(const Scenario& scenario, const codegen::Schedule& standard, double finals_seconds) {
  WorkerOptions options;
  options.command = {"/proc/self/exe", "worker"};
  auto target = codegen::resolve_target("host", scenario.threads);
  REQUIRE(target);
  options.target = *target;
  options.finals_seconds = finals_seconds;
  options.seed = 7;
  auto workers = Workers::start(test::doubling(7, 31), standard, options);
  INFO((workers ? "" : workers.error().message));
  REQUIRE(workers);
  return std::move(*workers);
}

}  // namespace

TEST_CASE("of two kernels 10 % apart the faster one is found under load, and the load is noticed") {
  if (codegen::available_cores().size() < 2) return;
  const auto [threads, microseconds] = GENERATE(Scenario{1, 20}, Scenario{1, 2000}, Scenario{2, 20}, Scenario{2, 200},
                                                Scenario{2, 2000}, Scenario{2, 10000});
  const auto standard = lasting(kDefault, microseconds, threads), fast = lasting(kFast, microseconds, threads),
             slow = lasting(kTenPercentSlower, microseconds, threads);
  const auto workers = start({threads, microseconds}, standard, 0);
  const Load load;
  int right = 0, noticed = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto result = workers->measure({slow, fast}, standard);
    REQUIRE(result.size() == 2);
    REQUIRE(result[0].outcome == Outcome::Ok);
    REQUIRE(result[1].outcome == Outcome::Ok);
    right += result[1].ratio > result[0].ratio;
    noticed += result[0].disturbed || result[1].disturbed;
  }
  WARN(threads << " threads, " << microseconds << " us: right in " << right << ", load noticed in " << noticed << " of "
               << kRepetitions);
  CHECK(right >= kRightShare * kRepetitions);
  // Kernels on one thread run where the load is not, and short ones between its turns: enough rounds lose no core.
  if (threads > 1 && microseconds >= 10000) CHECK(noticed >= kRightShare * kRepetitions);
}

TEST_CASE("the finals never prefer the slower of two kernels 10 % apart under load, and mostly tell them apart") {
  if (codegen::available_cores().size() < 2) return;
  constexpr int kFinals = 6;
  const auto [threads, microseconds] = GENERATE(Scenario{1, 200}, Scenario{2, 2000});
  const auto fast = lasting(kFast, microseconds, threads), slow = lasting(kTenPercentSlower, microseconds, threads);
  for (const bool fast_is_default : {false, true}) {
    const auto workers = start({threads, microseconds}, fast_is_default ? fast : slow, 0.5);
    const Load load;
    int challengers = 0;
    for (int repetition = 0; repetition < kFinals; ++repetition) {
      const auto result = workers->finals({fast_is_default ? fast : slow, fast_is_default ? slow : fast});
      REQUIRE(result.size() == 2);
      challengers += decide(result, false) == 1;
    }
    WARN(threads << " threads, " << microseconds << " us: the " << (fast_is_default ? "slower" : "faster")
                 << " challenger won " << challengers << " of " << kFinals << " finals");
    if (fast_is_default) CHECK(challengers == 0);
    if (!fast_is_default) CHECK(challengers >= kFinals - 1);
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "worker") {
    codegen::Backend backend = codegen::halide_backend();
    backend.compile = compile;
    return worker_main(0, 1, backend);
  }
  return tile_tune::test::run_tests(argc, argv);
}
