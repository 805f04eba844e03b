// Why a move was not made, and what repairs take back: the exact sentences, since these are what counts go by.
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/group_rules.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Schedule;
using codegen::StageSchedule;

codegen::Target two_threads_of_avx512() {
  codegen::Target target = codegen::parse_target("x86-64-linux-avx-avx2-avx512-fma").value();
  target.threads = 2;
  target.l1_bytes = 32 << 10;
  target.l2_bytes = 1 << 20;
  return target;
}

/// 6 x 64 in registers, vectors of 16 along n.
Schedule plain() {
  NestSchedule stage;
  stage.tiles = {{6}, {64}};
  stage.order = {{0, 1}};
  stage.cpu().parallel = 1;
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {60};
  stage.reduction_unroll = {1};
  return {{stage}};
}

Notes notes_after(const std::function<void(NestSchedule&)>& change) {
  const Space space(matmul(60, 128, 60), two_threads_of_avx512());
  Schedule schedule = plain();
  change(schedule.stages[0].nest());
  const Drawn repaired = space.adapt(schedule);
  REQUIRE(codegen::check(space.program(), repaired.schedule));
  return repaired.notes;
}

std::set<std::string_view> distinct(const Notes& notes) { return {notes.begin(), notes.end()}; }

}  // namespace

TEST_CASE("a repair says what it took back, and nothing of a schedule that is valid", "[unit]") {
  CHECK(notes_after([](auto&) {}).empty());
  CHECK(notes_after([](auto& stage) { stage.cpu().vector_loop = 3; }) == Notes{"the loop of its vectors is not there"});
  CHECK(notes_after([](auto& stage) {
          stage.cpu().vector_loop = 0;
          stage.cpu().lanes = 64;
          stage.tiles = {{32}, {2}};
        }) == Notes{"its vectors were longer than their loop"});
  CHECK(notes_after([](auto& stage) {
          stage.tiles = {{6}, {60}};
        }) == Notes{"its tiles did not fit their loop, its vectors or each other"});
  CHECK(notes_after([](auto& stage) {
          stage.tiles = {{6}, {256}};
        }).front() == "its tiles did not fit their loop, its vectors or each other");
  CHECK(notes_after([](auto& stage) { stage.reduction_block = {16}; }).empty());  // the last one is shorter
  CHECK(notes_after([](auto& stage) {
          stage.reduction_block = {16};
          stage.reduction_unroll = {8};  // 12 are left
        }) == Notes{"its unrolling did not divide the reduction"});
  CHECK(notes_after([](auto& stage) { stage.reduction_unroll = {7}; }).empty());  // four are computed one by one
  CHECK(notes_after([](auto& stage) { stage.reduction_unroll = {64}; }).front() ==
        "its unrolling did not divide the reduction");
  CHECK(notes_after([](auto& stage) {
          stage.cpu().vector_loop = 2;
          stage.tiles = {{2}, {2}};
          stage.reduction_block = {30};
        }) == Notes{"it cut a reduction in vector lanes into blocks"});
  CHECK(notes_after([](auto& stage) {
          stage.tiles = {{60}, {128}};
          stage.reduction_unroll = {2};
        }) == Notes{"it unrolled more operations than compile quickly"});
  CHECK(notes_after([](auto& stage) { stage.dot_product = true; }) == Notes{"its nest has no place for dot products"});
  CHECK(notes_after([](auto& stage) { stage.scan = true; }) ==
        Notes{"it has no running totals, or they need a nest of their own"});
  CHECK(notes_after([](auto& stage) {
          stage.cpu().parallel = 2;
          stage.packings = {{1, 1, {1, 0}}};
        }) == Notes{"it copied an operand between its parallel loops"});
  CHECK(notes_after([](auto& stage) {
          stage.packings = {{1, 1, {1, 0}}, {1, 2, {1, 0}}};
        }) == Notes{"it copied an operand twice, or one that cannot be copied"});
  // Both operands: of A the vectors read one element, B moves by whole rows.
  CHECK(notes_after([](auto& stage) {
          stage.prefetches = {{0, 2, 1}, {1, 2, 1}};
        }) == Notes{"it asked ahead for what cannot be asked for"});
}

TEST_CASE("functions are unrolled less than multiplications, as they are more code", "[unit]") {
  const auto terms_of = [](const std::string& value) {
    const Space space(bound("def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! " + value + " }",
                            {{"M", 60}, {"N", 128}, {"K", 60}}),
                      two_threads_of_avx512());
    Schedule schedule = plain();
    schedule.stages[0].nest().reduction_unroll = {15};
    const auto stage = space.adapt(schedule).schedule.stages[0].nest();
    return stage.tiles[0].back() * stage.tiles[1].back() / stage.cpu().lanes * stage.reduction_unroll[0];
  };
  CHECK(terms_of("A(m,k) * B(k,n)") == 6 * 4 * 15);
  const auto exponentials = terms_of("exp(A(m,k)) * B(k,n)"), tangents = terms_of("tan(A(m,k)) * B(k,n)");
  CHECK(exponentials * 9 <= 512);
  CHECK(tangents * 33 <= 512);
  CHECK(tangents >= 4);
  CHECK(exponentials > tangents);
}

TEST_CASE("elements that vectors gather one by one are unrolled less than neighbours", "[unit]") {
  const auto elements_of = [](const std::string& value) {
    const Space space(
        bound("def f(double(N,M) A, double(M,N) B) -> (O) { O(m,n) = " + value + " }", {{"M", 457}, {"N", 1021}}),
        two_threads_of_avx512());
    codegen::NestSchedule stage;
    stage.cpu().vector_loop = 1;
    stage.cpu().lanes = 8;
    stage.tiles = {{45}, {64}};
    stage.order = {{0, 1}};
    const auto made = space.adapt({{stage}}).schedule.stages[0].nest();
    return made.tiles[0].back() * made.tiles[1].back();
  };
  CHECK(elements_of("copysign(B(m,n), -1.0)") == 45 * 64);
  CHECK(elements_of("copysign(A(n,m), -1.0)") <= 1024);
  CHECK(elements_of("copysign(A(n,m), -1.0)") > 256);
  CHECK(elements_of("copysign(A(n,m), A(n,m) + A(n,m))") <= 1024);
}

TEST_CASE("pieces of a reduction are made to leave little over, or given up", "[unit]") {
  const auto notes = [](codegen::ParallelReduction cut, int64_t extent) {
    const Space space(bound("def f(float(N) I) -> (O) { O() +=! I(n) }", {{"N", extent}}), two_threads_of_avx512());
    Schedule schedule = space.default_schedule();
    schedule.stages[0].nest().parallel_reduction = cut;
    schedule.stages[0].nest().reduction_block = {extent};  // not cut, however long a piece is
    return space.adapt(schedule).notes;
  };
  CHECK(notes({0, 4}, 1 << 20).empty());
  CHECK(notes({0, 3}, 1 << 20).empty());  // one is left
  CHECK(notes({0, 64}, (1 << 20) - 1) == Notes{"its parallel pieces left too much of the reduction over"});
  CHECK(notes({1, 2}, 1 << 20) == Notes{"it ran a reduction in parallel where that is impossible"});
}

TEST_CASE("a place that is impossible is given up with a reason", "[unit]") {
  // A row's sum is needed as a whole by each of its elements; X is read by two statements.
  const auto program =
      bound("def f(float(M,N) I) -> (S, X, O) { S(m) +=! I(m,n)  X(m,n) = I(m,n) / S(m)  O(m,n) = X(m,n) * X(m,n) }",
            {{"M", 64}, {"N", 128}});
  const Space space(program, two_threads_of_avx512());
  Rng rng(3);
  const auto notes = [&](size_t s, const std::function<void(StageSchedule&)>& change) {
    Schedule schedule = space.default_schedule();
    change(schedule.stages[s]);
    const Drawn repaired = space.adapt(schedule);
    CHECK(codegen::check(program, repaired.schedule));
    return distinct(repaired.notes);
  };
  CHECK(notes(0, [](auto& stage) { stage = codegen::Inlined(); }).count("it cannot be computed where it is read") == 1);
  CHECK(notes(2, [](auto& stage) {
          stage = codegen::Epilogue{2};
        }).count("it cannot be the epilogue of that statement") == 1);
  CHECK(notes(2, [](auto& stage) {
          stage.nest().compute_at = codegen::ComputeAt{0, 1};
        }).count("it cannot be computed inside the loops of that statement") == 1);
}

TEST_CASE("sums of deterministic kernels have one order", "[unit]") {
  auto target = two_threads_of_avx512();
  target.deterministic = true;
  const Space space(matmul(60, 128, 60), target);
  Schedule schedule = plain();
  schedule.stages[0].nest().reduction_block = {30};
  CHECK(space.adapt(schedule).notes == Notes{"it summed up in another order than deterministic kernels do"});
}

TEST_CASE("a move that cannot be made is refused with a reason", "[unit]") {
  Rng rng(1);
  const Space scalar(bound("def f(float(N) I) -> (O) { O() = 3.0 }", {{"N", 1}}), two_threads_of_avx512());
  const Drawn drawn = scalar.mutate(scalar.default_schedule(), rng);
  CHECK(drawn.schedule == scalar.default_schedule());
  CHECK(drawn.notes.back() == "no other schedule was found near it");
  CHECK(distinct(drawn.notes) ==
        std::set<std::string_view>{
            "it has no loops to tile", "it has no two loops to swap", "it has no loops to run in parallel",
            "none of its loops is long enough for a vector", "it has no reduction",
            "it has no operand that can be copied", "it has no operand", "no other schedule was found near it"});

  const Space product(matmul(60, 128, 67), two_threads_of_avx512());
  std::set<std::string_view> seen;
  const Space no_sum(matmul(60, 128, 1), two_threads_of_avx512());
  for (const Space& space : {product, no_sum})
    for (int i = 0; i < 300; ++i)
      for (const auto note : space.mutate(space.default_schedule(), rng).notes) seen.insert(note);
  for (const char* reason :
       {"it has no tiles but those in registers", "its reduction has no pieces to run in parallel",
        "the CPU has no dot products for its operands", "an operand cannot be asked for ahead of its use"}) {
    INFO(reason);
    CHECK(seen.count(reason) == 1);
  }
}

TEST_CASE("every decision belongs to one group of rules, and the sizes of the groups make up that of the space",
          "[unit]") {
  std::set<codegen::Group> groups;
  for (const GroupRules& rules : group_rules()) {
    CHECK(groups.insert(rules.group).second);
    CHECK(rules.log_count != nullptr);
  }
  std::set<std::string> names;
  codegen::for_each_decision([&](const auto& decision) {
    CHECK(names.insert(decision.name).second);
    CHECK(groups.count(decision.group) == 1);
  });
  const Space space(matmul(512, 512, 512), two_threads_of_avx512());
  double sum = 0;
  for (const auto& [group, size] : space.log10_sizes()) {
    INFO(codegen::group_name(group));
    CHECK(size >= 0);
    // There is one place, and results of a cache's size are stored in one way.
    CHECK((group == codegen::Group::Place || group == codegen::Group::Stores || size > 0));
    sum += size;
  }
  CHECK(sum == Approx(space.log10_size()));
}

}  // namespace tile_tune::search
