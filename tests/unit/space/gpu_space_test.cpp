// Schedules for GPUs: every one that the space hands out is valid for the device and in the one form that equal ones
// share, defaults are what the model wants, and a good part of what is drawn is worth a trial.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "codegen/schedule/check.h"
#include "codegen/schedule/gpu_shape.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/predict/features.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Schedule;

codegen::Target target(const std::string& text) { return codegen::parse_target(text).value(); }

std::vector<codegen::Target> targets() {
  return {target("x86-64-linux-opencl"),
          target("x86-64-linux-cuda-cuda_capability_70"),
          target("x86-64-linux-cuda-cuda_capability_75"),
          target("x86-64-linux-cuda-cuda_capability_80"),
          target("x86-64-linux-cuda-cuda_capability_86"),
          codegen::deterministic(target("x86-64-linux-opencl"))};
}

std::vector<ir::Program> programs() {
  std::vector<ir::Program> all;
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {512, 512, 512}, {1, 1, 1}, {17, 31, 7}, {64, 1, 100}, {3, 1000, 2}, {0, 5, 3}, {5, 3, 0}, {14, 14, 997}})
    all.push_back(matmul(m, n, k));
  const std::string pool = "def f(float(H,W) I) -> (O) { O(h,w) max=! I(2*h + i, 2*w + j) where i in 0:2, j in 0:2 }";
  all.push_back(bound(pool, {{"H", 200}, {"W", 301}}));
  all.push_back(bound("def f(float(A,B,C) I) -> (O) { O(c,b,a) = I(a,b,c) }", {{"A", 100}, {"B", 70}, {"C", 129}}));
  all.push_back(
      bound("def f(float(N,D) T, int32(B) I) -> (O) { O(b,d) = T(I(b),d) }", {{"N", 9}, {"D", 33}, {"B", 5}}));
  all.push_back(
      bound("def f(float(N,G,C,H,W) I, float(G,F,C,KH,KW) K) -> (O) "
            "{ O(n,g,f,h,w) +=! I(n,g,c,h+kh,w+kw) * K(g,f,c,kh,kw) }",
            {{"N", 2}, {"G", 4}, {"C", 8}, {"F", 8}, {"H", 9}, {"W", 9}, {"KH", 3}, {"KW", 3}}));
  all.push_back(bound(R"(def f(float(M,K) A, float(K,N) B, float(N) C) -> (O) {
                           T(m,n) +=! A(m,k) * B(k,n)
                           O(m,n) = fmax(T(m,n) + C(n), 0)
                         })",
                      {{"M", 70}, {"N", 90}, {"K", 48}}));
  all.push_back(bound(R"(def f(float(N,D) X) -> (O) {
                           M(n) max=! X(n,d)
                           E(n,d) = exp(X(n,d) - M(n))
                           S(n) +=! E(n,d)
                           O(n,d) = E(n,d) / S(n)
                         })",
                      {{"N", 33}, {"D", 100}}));
  all.push_back(bound("def f(float(A,B) X) -> (O) { O() +=! X(a,b) }", {{"A", 40}, {"B", 90}}));
  all.push_back(bound("def f(double(B,M,K) A, double(B,K,N) C) -> (O) { O(b,m,n) +=! A(b,m,k) * C(b,k,n) }",
                      {{"B", 500}, {"M", 5}, {"N", 7}, {"K", 6}}));
  all.push_back(bound("def f(float(N) X) -> (O) { O(n) = 2 * X(n) }", {{"N", 1000003}}));
  all.push_back(bound("def f(float(A,B,C,D,E) X) -> (O) { O(a,b,c,d,e) = X(a,b,c,d,e) + 1 }",
                      {{"A", 31}, {"B", 37}, {"C", 41}, {"D", 43}, {"E", 3}}));
  return all;
}

std::string fault(const Space& space, const Schedule& schedule) {
  const auto valid = codegen::check_for(space.target(), space.program(), schedule);
  return valid ? "" : valid.error().message;
}

void check_member(const Space& space, const Schedule& schedule) {
  CHECK(fault(space, schedule) == "");
  const Drawn again = space.adapt(schedule);
  CHECK(again.schedule == schedule);
  CHECK(again.notes.empty());
}

bool is_staged(const NestSchedule& stage) { return !stage.packings.empty(); }

const NestSchedule& main_nest(const Schedule& schedule) { return schedule.stages.at(0).nest(); }

}  // namespace

TEST_CASE("every schedule for a GPU fits its program and its device, and is in the form of all equal ones", "[unit]") {
  Rng rng(61);
  for (const auto& device : targets()) {
    for (const auto& program : programs()) {
      const Space space(program, device);
      INFO(device.text() << ", " << ir::content_hash(program) << ", " << program.statements.size() << " statements");
      check_member(space, space.default_schedule());
      for (const auto& schedule : space.default_alternatives()) check_member(space, schedule);
      Schedule walker = space.default_schedule();
      for (int i = 0; i < 20; ++i) {
        const Schedule sampled = space.sample(rng).schedule;
        check_member(space, sampled);
        walker = space.mutate(i % 10 == 0 ? sampled : walker, rng).schedule;
        check_member(space, walker);
        check_member(space, space.crossover(sampled, walker, rng).schedule);
      }
    }
  }
}

TEST_CASE("a mutant on a GPU differs from its parent wherever the space has another member", "[unit]") {
  Rng rng(62);
  for (const auto& program : programs()) {
    const Space space(program, target("x86-64-linux-cuda-cuda_capability_80"));
    const Schedule standard = space.default_schedule();
    bool others = false;
    for (int i = 0; i < 50; ++i) others |= space.sample(rng).schedule != standard;
    for (int i = 0; others && i < 30; ++i) {
      const Schedule parent = i == 0 ? standard : space.sample(rng).schedule;
      CHECK(space.mutate(parent, rng).schedule != parent);
    }
    CHECK(space.crossover(standard, standard, rng).schedule == standard);
  }
}

TEST_CASE("of 2,000 drawn schedules of a product 500 different ones are worth a trial, many of them in registers",
          "[unit]") {
  const ir::Program program = matmul(1024, 1024, 1024);
  for (const char* text : {"x86-64-linux-cuda-cuda_capability_80", "x86-64-linux-opencl"}) {
    const Space space(program, target(text));
    CHECK(space.log10_size() > 6);
    const predict::Features features(program, space.target());
    Rng rng(63);
    std::set<std::string> passed;
    int in_registers = 0;
    std::map<std::string, int> reasons;
    for (int i = 0; i < 2000; ++i) {
      const Schedule schedule = space.sample(rng).schedule;
      if (const auto reason = features.hopeless(schedule)) {
        ++reasons[*reason];
        continue;
      }
      if (!passed.insert(codegen::schedule_id(schedule)).second) continue;
      const NestSchedule& stage = main_nest(schedule);
      in_registers += is_staged(stage) && codegen::thread_elements(stage) >= 32;
    }
    std::ostringstream why;
    for (const auto& [reason, count] : reasons) why << count << ": " << reason << "\n";
    INFO(text << "\n" << why.str() << passed.size() << " passed, " << in_registers << " of them in registers");
    CHECK(passed.size() >= 500);
    CHECK(in_registers * 3 >= static_cast<int>(passed.size()));
  }
}

TEST_CASE("a large product's default holds 64 sums a thread or more of what it stages", "[unit]") {
  for (const char* text : {"x86-64-linux-cuda-cuda_capability_70", "x86-64-linux-cuda-cuda_capability_80",
                           "x86-64-linux-cuda-cuda_capability_86"}) {
    const Space space(matmul(2048, 2048, 2048), target(text));
    const Schedule schedule = space.default_schedule();
    INFO(text << codegen::to_json(schedule).dump());
    const NestSchedule& stage = main_nest(schedule);
    CHECK(codegen::thread_elements(stage) >= 64);
    CHECK(stage.packings.size() == 2);
    CHECK(stage.gpu().lanes == 4);
    CHECK(stage.gpu().interleaved);
  }
}

TEST_CASE("what memory bounds has neighbours in neighbouring threads", "[unit]") {
  const Space space(
      bound("def f(float(N,M) X, float(M) y) -> (O) { O(n,m) = X(n,m) + y(m) }", {{"N", 4096}, {"M", 4096}}),
      target("x86-64-linux-cuda-cuda_capability_80"));
  const Schedule schedule = space.default_schedule();
  INFO(codegen::to_json(schedule).dump());
  const NestSchedule& stage = main_nest(schedule);
  CHECK(stage.order[1].back() == 1);
  CHECK(codegen::threads_of_loop(stage, 1) * stage.gpu().lanes >= 32);  // a line of memory
  CHECK(stage.packings.empty());
  const Space collapsed(bound("def f(float(N,M) X) -> (O) { O(n,m) = 2 * X(n,m) }", {{"N", 4096}, {"M", 4096}}),
                        target("x86-64-linux-cuda-cuda_capability_80"));
  const Schedule one_loop = collapsed.default_schedule();
  CHECK(codegen::threads_of_loop(main_nest(one_loop), 0) * main_nest(one_loop).gpu().lanes >= 32);
}

TEST_CASE("tiny problems share a block", "[unit]") {
  const Space space(bound("def f(float(B,M,K) A, float(B,K,N) C) -> (O) { O(b,m,n) +=! A(b,m,k) * C(b,k,n) }",
                          {{"B", 20000}, {"M", 4}, {"N", 4}, {"K", 4}}),
                    target("x86-64-linux-cuda-cuda_capability_80"));
  const Schedule schedule = space.default_schedule();
  INFO(codegen::to_json(schedule).dump());
  const NestSchedule& stage = main_nest(schedule);
  CHECK(codegen::threads_of_loop(stage, 0) > 1);
  CHECK(codegen::threads_of_loop(stage, 0) * codegen::threads_of_loop(stage, 1) * codegen::threads_of_loop(stage, 2) >=
        32);
}

TEST_CASE("a permutation goes through a padded tile in shared memory", "[unit]") {
  const Space space(bound("def f(float(A,B,C) I) -> (O) { O(c,b,a) = I(a,b,c) }", {{"A", 256}, {"B", 256}, {"C", 256}}),
                    target("x86-64-linux-cuda-cuda_capability_80"));
  const Schedule schedule = space.default_schedule();
  INFO(codegen::to_json(schedule).dump());
  const NestSchedule& stage = main_nest(schedule);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.gpu().padding == 1);
  CHECK(stage.tiles[2].front() >= 32);
  CHECK(stage.tiles[0].front() >= 16);
}

TEST_CASE("threads share the reductions of few outputs by default, and blocks share long ones", "[unit]") {
  struct Case {
    const char* text;
    ir::Sizes sizes;
    int least_threads;  // that share a reduction
    double threads;     // of all blocks, at least
  };
  const auto one = GENERATE(
      Case{"def f(float(M,N) A) -> (o) { o(m) +=! A(m,n) }", {{"M", 4096}, {"N", 8192}}, 32, 1e5},
      Case{"def f(float(M,N) A, float(N) v) -> (o) { o(m) +=! A(m,n) * v(n) }", {{"M", 4096}, {"N", 4096}}, 8, 6e4},
      Case{"def f(float(N) A) -> (o) { o +=! A(n) }", {{"N", 1 << 24}}, 128, 2e4},
      Case{"def f(float(M,N) A) -> (o) { o(m) max=! A(m,n) }", {{"M", 512}, {"N", 1000}}, 32, 1e4},
      Case{"def f(float(M,N) A) -> (o) { o(n) +=! A(m,n) }", {{"M", 8192}, {"N", 1024}}, 8, 8e3});
  for (const char* text : {"x86-64-linux-cuda-cuda_capability_80", "x86-64-linux-opencl"}) {
    const ir::Program program = bound(one.text, one.sizes);
    const Space space(program, target(text));
    const Schedule schedule = space.default_schedule();
    INFO(text << codegen::to_json(schedule).dump());
    const NestSchedule& stage = main_nest(schedule);
    CHECK(stage.gpu().reduction_threads >= one.least_threads);
    const auto loops = codegen::one_piece(codegen::loops_of(program, program.statements[0]), stage);
    const auto shape = codegen::gpu_shape(program, 0, loops, stage);
    CHECK(static_cast<double>(shape.blocks() * shape.threads()) >= one.threads);
  }
}

TEST_CASE("what a device has no room for is taken back with the reason", "[unit]") {
  const Space space(matmul(1024, 1024, 1024), target("x86-64-linux-opencl"));
  Schedule schedule = space.default_schedule();
  NestSchedule& stage = schedule.stages[0].nest();
  stage.tiles = {{256, 4}, {256, 4}};
  const auto notes = [&] { return space.adapt(schedule).notes; };
  const auto says = [&](std::string_view reason) {
    const auto found = notes();
    return std::find(found.begin(), found.end(), reason) != found.end();
  };
  CHECK(says("its blocks had too many threads"));
  stage.tiles = {{64, 16}, {64, 16}};
  CHECK(says("its threads held more sums than registers"));
  stage.tiles = {{64, 4}, {64, 4}};
  stage.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  stage.reduction_block = {512};
  stage.reduction_unroll = {1};
  CHECK(says("it took more shared memory than there is"));
  stage.packings.clear();
  CHECK(says("it cut a reduction into blocks for which nothing is staged"));
  stage.mapping = codegen::CpuMapping{};
  CHECK(says("its loops were mapped to a CPU"));
}

TEST_CASE("pieces of a reduction leave less than 2 GiB of sums", "[unit]") {
  const Space space(matmul(8192, 8192, 256), target("x86-64-linux-opencl"));
  Schedule schedule = space.default_schedule();
  schedule.stages[0].nest().parallel_reduction = codegen::ParallelReduction{0, 64};
  const auto cut = space.adapt(schedule).schedule.stages[0].nest().parallel_reduction;
  REQUIRE(cut);
  CHECK(cut->pieces == 4);
}

TEST_CASE("pieces of a reduction leave nothing over on a GPU", "[unit]") {
  const auto program = matmul(64, 64, 67);
  const Space space(program, target("x86-64-linux-opencl"));
  Schedule schedule = space.default_schedule();
  schedule.stages[0].nest().parallel_reduction = codegen::ParallelReduction{0, 8};
  const auto adapted = space.adapt(schedule).schedule;
  CHECK(codegen::check(program, adapted));
  CHECK_FALSE(adapted.stages[0].nest().parallel_reduction);
}

TEST_CASE("a block of the reduction is loaded ahead where there is a next one and registers to hold it", "[unit]") {
  const Space space(matmul(130, 96, 64), target("x86-64-linux-cuda-cuda_capability_80"));
  Schedule schedule = space.default_schedule();
  NestSchedule& stage = schedule.stages[0].nest();
  stage.tiles = {{32, 4}, {32, 4}};
  stage.reduction_block = {16};
  stage.reduction_unroll = {16};
  stage.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  stage.gpu() = {.vector_loop = 1, .lanes = 4, .interleaved = true, .padding = 4, .pipelined = true};
  CHECK(space.adapt(schedule).schedule.stages[0].nest().gpu().pipelined);
  stage.reduction_block = {64};
  CHECK_FALSE(space.adapt(schedule).schedule.stages[0].nest().gpu().pipelined);
  stage.reduction_block = {32};
  stage.tiles = {{8, 8}, {32, 8}};  // 4 threads for 32 x 40 elements
  CHECK_FALSE(space.adapt(schedule).schedule.stages[0].nest().gpu().pipelined);
  Rng rng(9);
  int ahead = 0, staged = 0;
  for (int i = 0; i < 300; ++i) {
    const NestSchedule drawn = main_nest(space.sample(rng).schedule);
    staged += is_staged(drawn);
    ahead += drawn.gpu().pipelined;
  }
  CHECK(ahead * 8 >= staged);
  CHECK(ahead * 3 <= staged * 2);
}

TEST_CASE("what GPUs do without is neither drawn nor counted, and taken back where it is asked for", "[unit]") {
  constexpr std::string_view kReason = "it asked for what kernels of a GPU do without";
  const auto says = [&](const Drawn& drawn) {
    return std::find(drawn.notes.begin(), drawn.notes.end(), kReason) != drawn.notes.end();
  };
  const Space space(matmul(130, 96, 64), target("x86-64-linux-cuda-cuda_capability_80"));
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    const Drawn drawn = space.sample(rng);
    CHECK_FALSE(says(drawn));
    CHECK_FALSE(says(space.mutate(drawn.schedule, rng)));
  }
  for (const auto& [group, size] : space.log10_sizes()) {
    if (group == codegen::Group::Place) CHECK(size == 0);
    // Two operands staged in one of two orders or not at all, five paddings, a block ahead or not.
    if (group == codegen::Group::Copies) CHECK(size == Approx(std::log10(3 * 3 * 5 * 2)));
  }
  const Schedule standard = space.default_schedule();
  void (*const changes[])(NestSchedule&) = {[](NestSchedule& stage) { stage.scan = true; },
                                            [](NestSchedule& stage) {
                                              stage.prefetches = {{0, 0, 4}};
                                            }};
  for (const auto change : changes) {
    Schedule asked = standard;
    change(asked.stages[0].nest());
    CHECK(fault(space, asked) != "");
    const Drawn taken_back = space.adapt(asked);
    CHECK(says(taken_back));
    CHECK(taken_back.schedule == standard);
  }
}

}  // namespace tile_tune::search
