// The moves of the real space under the search (decision 22): everything legal and canonical, mutants different from
// their parents, children with genes of both; and the loop running on them.
#include <catch2/catch.hpp>
#include <set>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "search/evolve/tune.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;
using codegen::Schedule;
using ir::AffineExpr;

const codegen::Target kTarget = [] {
  codegen::Target target = codegen::parse_target("x86-64-linux-avx-avx2-avx512-fma").value();
  target.threads = 2;
  return target;
}();

ir::ExprPtr read(int tensor, const std::vector<ir::Subscript>& subscripts) {
  return ir::make_expr(DType::F32, ir::Read{tensor, subscripts});
}

ir::ExprPtr call(ir::Op op, ir::ExprPtr a, ir::ExprPtr b) {
  return ir::make_expr(DType::F32, ir::Call{op, {std::move(a), std::move(b)}});
}

ir::Statement statement(int target, std::vector<int64_t> extents, int outputs, ir::Aggregation op, ir::ExprPtr value) {
  ir::Statement result;
  result.target = target;
  for (size_t i = 0; i < extents.size(); ++i) {
    result.indices.push_back({std::string(1, static_cast<char>('i' + i)), 0, extents[i], "test"});
    if (static_cast<int>(i) < outputs) result.subscripts.push_back(AffineExpr::index(static_cast<int>(i)));
  }
  result.op = op;
  result.value = std::move(value);
  return result;
}

ir::Tensor tensor(const std::string& name, const std::vector<int64_t>& extents, ir::Role role) {
  ir::Tensor result{.name = name, .type = DType::F32, .extents = {}, .role = role};
  for (int64_t extent : extents) result.extents.push_back(extent);
  return result;
}

AffineExpr at(int index) { return AffineExpr::index(index); }

/// C(i,j) = sum over k of A(i,k) * B(k,j).
ir::Program matmul(int64_t m, int64_t n, int64_t k) {
  return {.name = "mm",
          .sizes = {},
          .tensors = {tensor("A", {m, k}, ir::Role::Input), tensor("B", {k, n}, ir::Role::Input),
                      tensor("C", {m, n}, ir::Role::Output)},
          .inputs = {0, 1},
          .outputs = {2},
          .statements = {statement(2, {m, n, k}, 2, ir::Aggregation::Sum,
                                   call(ir::Op::Mul, read(0, {at(0), at(2)}), read(1, {at(2), at(1)})))}};
}

/// M(i,j) = max over u, v < 3 of X(2 i + u, 2 j + v).
ir::Program max_pool(int64_t h, int64_t w) {
  const AffineExpr row{{{0, 2}, {2, 1}}, 0, 1}, column{{{1, 2}, {3, 1}}, 0, 1};
  return {.name = "pool",
          .sizes = {},
          .tensors = {tensor("X", {2 * h + 1, 2 * w + 1}, ir::Role::Input), tensor("M", {h, w}, ir::Role::Output)},
          .inputs = {0},
          .outputs = {1},
          .statements = {statement(1, {h, w, 3, 3}, 2, ir::Aggregation::Max, read(0, {row, column}))}};
}

/// T(i) = X(i) + X(i); y = sum over i of T(i) * X(i).
ir::Program chain(int64_t n) {
  return {.name = "chain",
          .sizes = {},
          .tensors = {tensor("X", {n}, ir::Role::Input), tensor("T", {n}, ir::Role::Temporary),
                      tensor("y", {}, ir::Role::Output)},
          .inputs = {0},
          .outputs = {2},
          .statements = {
              statement(1, {n}, 1, ir::Aggregation::Assign, call(ir::Op::Add, read(0, {at(0)}), read(0, {at(0)}))),
              statement(2, {n}, 0, ir::Aggregation::Sum, call(ir::Op::Mul, read(1, {at(0)}), read(0, {at(0)})))}};
}

/// y = a * a: no loop at all.
ir::Program scalar() {
  return {.name = "square",
          .sizes = {},
          .tensors = {tensor("a", {}, ir::Role::Input), tensor("y", {}, ir::Role::Output)},
          .inputs = {0},
          .outputs = {1},
          .statements = {statement(1, {}, 0, ir::Aggregation::Assign, call(ir::Op::Mul, read(0, {}), read(0, {})))}};
}

std::vector<Space> spaces() {
  std::vector<Space> all;
  const auto add = [&](const ir::Program& program) { all.emplace_back(ir::canonicalize(program), kTarget); };
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {512, 512, 512}, {1, 1, 1}, {17, 31, 7}, {64, 1, 100}, {3, 1000, 2}, {0, 5, 3}, {5, 3, 0}, {14, 14, 997}})
    add(matmul(m, n, k));
  for (auto [h, w] : std::vector<std::array<int64_t, 2>>{{56, 56}, {13, 1}, {7, 101}}) add(max_pool(h, w));
  for (int64_t n : {1, 2, 17, 4096}) add(chain(n));
  add(scalar());
  return all;
}

/// A member of the space: legal, and in the one form that all equal schedules share.
void check_member(const Space& space, const Schedule& schedule) {
  const auto valid = codegen::check(space.program(), schedule);
  INFO((valid ? "" : valid.error().message));
  CHECK(valid);
  const Drawn again = space.adapt(schedule);
  CHECK(again.schedule == schedule);
  CHECK(again.notes.empty());
}

/// Which of two parents each group of decisions came from.
struct Genes {
  int only_a = 0, only_b = 0, neither = 0;
};
Genes genes(const NestSchedule& child, const NestSchedule& a, const NestSchedule& b) {
  Genes result;
  const auto compare = [&](const auto& of) {
    const auto mine = of(child), from_a = of(a), from_b = of(b);
    result.only_a += mine == from_a && mine != from_b;
    result.only_b += mine == from_b && mine != from_a;
    result.neither += mine != from_a && mine != from_b;
  };
  compare([](const NestSchedule& s) { return s.tiles; });
  compare([](const NestSchedule& s) { return s.order; });
  compare([](const NestSchedule& s) { return s.cpu().parallel; });
  compare([](const NestSchedule& s) { return std::pair(s.cpu().vector_loop, s.cpu().lanes); });
  compare([](const NestSchedule& s) { return std::tuple(s.reduction_order, s.reduction_block, s.reduction_unroll); });
  compare([](const NestSchedule& s) { return s.packings; });
  return result;
}

/// Times made up from the schedule's name; every thirteenth fails.
class HashMeasurer : public Measurer {
 public:
  std::vector<Measurement> measure(const std::vector<Schedule>& batch, const Schedule&, Deadline) override {
    std::vector<Measurement> results;
    for (const Schedule& schedule : batch) results.push_back(measured(schedule));
    return results;
  }
  std::vector<Measurement> finals(const std::vector<Schedule>& schedules, Deadline) override {
    return measure(schedules, {}, {});
  }

 private:
  Measurement measured(const Schedule& schedule) {
    const uint64_t hash = std::stoull(codegen::schedule_id(schedule).substr(0, 8), nullptr, 16);
    Measurement result;
    if (count_++ % 13 == 5) result.outcome = Outcome::Crash;
    result.ratio = 0.5 + static_cast<double>(hash % 1000) / 500;
    result.median_ns = 1000 / result.ratio;
    return result;
  }
  int count_ = 0;
};

struct KeySink : TrialSink {
  std::vector<std::string> keys;
  Result<void> on_trial(const Trial& trial) override {
    if (trial.origin != "final") keys.push_back(codegen::schedule_id(trial.schedule));
    return {};
  }
};

}  // namespace

TEST_CASE("every move yields a legal schedule in canonical form") {
  Rng rng(41);
  for (const Space& space : spaces()) {
    INFO(space.program().name << " " << ir::content_hash(space.program()));
    check_member(space, space.default_schedule());
    Schedule walker = space.default_schedule();
    for (int i = 0; i < 150; ++i) {
      const Schedule sampled = space.sample(rng).schedule;
      check_member(space, sampled);
      walker = space.mutate(i % 10 == 0 ? sampled : walker, rng).schedule;
      check_member(space, walker);
      check_member(space, space.crossover(sampled, walker, rng).schedule);
    }
  }
}

TEST_CASE("a mutant differs from its parent wherever the space has another member") {
  Rng rng(42);
  for (const Space& space : spaces()) {
    const Schedule standard = space.default_schedule();
    bool others = false;
    for (int i = 0; i < 100; ++i) others |= space.sample(rng).schedule != standard;
    INFO(space.program().name);
    for (int i = 0; others && i < 100; ++i) {
      const Schedule parent = i == 0 ? standard : space.sample(rng).schedule;
      CHECK(space.mutate(parent, rng).schedule != parent);
    }
  }
}

TEST_CASE("a mutant keeps most of its parent") {
  const Space space(ir::canonicalize(matmul(512, 512, 512)), kTarget);
  Rng rng(43);
  int changed = 0;
  constexpr int kMutants = 300;
  for (int i = 0; i < kMutants; ++i) {
    const Schedule parent = space.sample(rng).schedule;
    const NestSchedule child = space.mutate(parent, rng).schedule.stages[0].nest();
    changed += genes(child, parent.stages[0].nest(), parent.stages[0].nest()).neither;
  }
  CHECK(changed < 3 * kMutants);  // of six groups; unrelated samples differ in nearly all
}

TEST_CASE("a child has genes of both parents and few of neither") {
  for (const auto& program : {matmul(512, 512, 512), max_pool(56, 56)}) {
    const Space space(ir::canonicalize(program), kTarget);
    Rng rng(44);
    int both = 0, from_a = 0, from_b = 0, neither = 0;
    constexpr int kPairs = 400;
    for (int i = 0; i < kPairs; ++i) {
      const Schedule a = space.sample(rng).schedule, b = space.sample(rng).schedule;
      const Genes found =
          genes(space.crossover(a, b, rng).schedule.stages[0].nest(), a.stages[0].nest(), b.stages[0].nest());
      both += found.only_a > 0 && found.only_b > 0;
      from_a += found.only_a;
      from_b += found.only_b;
      neither += found.neither;
    }
    INFO(program.name << ": both " << both << ", a " << from_a << ", b " << from_b << ", neither " << neither);
    CHECK(both > kPairs * 6 / 10);
    CHECK(std::abs(from_a - from_b) < (from_a + from_b) / 5);
    CHECK(neither < (from_a + from_b) / 2);
  }
}

TEST_CASE("parents that are equal have equal children, and moves follow from the generator alone") {
  for (const Space& space : spaces()) {
    Rng one(45), two(45);
    for (int i = 0; i < 20; ++i) {
      const Schedule a = space.sample(one).schedule, b = space.sample(one).schedule;
      CHECK(a == space.sample(two).schedule);
      CHECK(b == space.sample(two).schedule);
      CHECK(space.mutate(a, one).schedule == space.mutate(a, two).schedule);
      CHECK(space.crossover(a, b, one).schedule == space.crossover(a, b, two).schedule);
      CHECK(space.crossover(a, a, one).schedule == a);
      CHECK(space.crossover(a, a, two).schedule == a);
    }
  }
}

TEST_CASE("a 512 cubed matrix product has more than a million schedules, and sampling finds distinct ones") {
  const Space space(ir::canonicalize(matmul(512, 512, 512)), kTarget);
  CHECK(space.log10_size() > 6);
  Rng rng(46);
  std::set<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(codegen::schedule_id(space.sample(rng).schedule));
  CHECK(keys.size() >= 950);
}

TEST_CASE("the search runs on real spaces: no schedule twice, repeatable, small spaces exhausted") {
  const std::atomic<bool> stop = false;
  const Surroundings surroundings{.clock = [] { return 0.0; }, .stop = stop, .progress = {}};
  for (const Space& space : spaces()) {
    INFO(space.program().name << ", 10^" << space.log10_size());
    const auto run = [&](KeySink& sink) {
      HashMeasurer measurer;
      return tune(moves_of(space), measurer, sink, {}, {.seed = 5, .budget = {.trials = 80}}, surroundings);
    };
    KeySink first, second;
    const auto report = run(first);
    REQUIRE(report);
    REQUIRE(run(second));
    CHECK(first.keys == second.keys);
    CHECK(std::set(first.keys.begin(), first.keys.end()).size() == first.keys.size());
    if (report->stop_reason == StopReason::Trials)
      CHECK(first.keys.size() == 80);
    else
      CHECK(report->stop_reason == StopReason::Exhausted);
  }
}

TEST_CASE("a program without loops has one schedule, and the search ends with it") {
  const Space space(ir::canonicalize(scalar()), kTarget);
  const std::atomic<bool> stop = false;
  HashMeasurer measurer;
  KeySink sink;
  const auto report = tune(moves_of(space), measurer, sink, {}, {.seed = 5, .budget = {.trials = 80}},
                           {.clock = [] { return 0.0; }, .stop = stop, .progress = {}});
  REQUIRE(report);
  CHECK(report->stop_reason == StopReason::Exhausted);
  CHECK(sink.keys.size() == 1);
}

}  // namespace tile_tune::search
