// Networks read back off the IR, their steps, and the order that the database makes the best.
#include <stdlib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/schedule/check.h"
#include "codegen/target/host.h"
#include "engine/programs/network_form.h"
#include "engine/records/network_order.h"
#include "engine/records/network_steps.h"
#include "engine/records/planned.h"
#include "engine/tuning/steps_first.h"
#include "frontend/ir/canonical.h"
#include "frontend/reference/reference.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"

using namespace tile_tune;
using namespace tile_tune::engine;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

ir::Program einsum_at(const std::string& subscripts, const Shapes& shapes, DType type = DType::F32) {
  einsum::Known known;
  for (const auto& shape : shapes) known.operands.push_back({type, shape});
  const auto made = einsum::make_program(einsum::parse(subscripts).value(), known).value();
  return ir::bind(made.program, made.sizes).value();
}

Workload workload_of(const ir::Program& bound) { return make_workload({bound, "einsum", "text"}, bound, {}); }

codegen::Target avx2(int threads = 2) {
  return codegen::describe_target("x86-64-linux-avx-avx2-f16c-fma-sse41", threads).value();
}

/// A database that goes away with the test.
class TunedDatabase {
 public:
  TunedDatabase() {
    std::string name = (std::filesystem::temp_directory_path() / "tile-tune-networks-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
    stack_.push_back(db::Database::open(folder_ / "tuning.db", db::Mode::ReadWrite).value());
  }
  ~TunedDatabase() {
    stack_.clear();
    std::filesystem::remove_all(folder_);
  }
  TunedDatabase(const TunedDatabase&) = delete;

  /// As if a search had ended with this schedule and time.
  void keep(const Workload& workload, const codegen::Schedule& schedule, double median_ns) {
    auto& database = stack_.front();
    db::SessionRow session;
    session.strategy = "model";
    session.options_json = session.budget_json = "{}";
    session.created_ms = 1;
    const auto id = database.begin_session(workload.row, target_row(avx2()), tool_row(), session).value();
    db::TrialRow row;
    row.origin = "final";
    row.schedule_json = codegen::to_json(schedule).dump();
    row.schedule_id = codegen::schedule_id(schedule);
    row.outcome = "ok";
    row.median_ns = median_ns;
    row.ratio = 1.5;
    row.ratio_lo = 1.4;
    row.ratio_hi = 1.6;
    row.chosen = true;
    REQUIRE(database.append_trial(id, row));
    REQUIRE(database.finish_session(id, "done"));
  }
  void keep_default(const Workload& workload, double median_ns) {
    keep(workload, search::Space(workload.program, avx2()).default_schedule(), median_ns);
  }

  std::vector<db::Database>& stack() { return stack_; }
  std::string file() const { return folder_ / "tuning.db"; }

 private:
  std::filesystem::path folder_;
  std::vector<db::Database> stack_;
};

}  // namespace

TEST_CASE("a network in another order computes the same, of the same arrays") {
  auto program = einsum_at("ab,bcd,cd,ae->de", {{3, 5}, {5, 4, 7}, {4, 7}, {3, 2}}, DType::F64);
  program.name = "net";
  program.tensors[static_cast<size_t>(program.inputs[1])].storage = ir::Storage::col();
  program.tensors[static_cast<size_t>(program.inputs[3])].constant = true;
  program.cold = true;
  const auto network = network_of(program);
  REQUIRE(network);
  CHECK(network->operands.size() == 4);
  CHECK(network->extents.size() == 5);
  const auto inputs = reference::random_inputs(program, 3);
  const auto expected = reference::evaluate(program, inputs).value();
  for (const plan::Order& order : {plan::Order{{0, 1}, {4, 2}, {5, 3}}, plan::Order{{0, 3}, {1, 2}, {4, 5}},
                                   plan::Order{{2, 1}, {0, 4}, {3, 5}}}) {
    const auto ordered = in_order(program, *network, order).value();
    CHECK(is_same_order(network_of(ordered)->order, order, 4));
    CHECK(ordered.name == "net");
    CHECK(ordered.cold);
    CHECK(ordered.free_order);
    reference::Inputs same;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const auto &one = ordered.tensors[static_cast<size_t>(ordered.inputs[i])],
                 &other = program.tensors[static_cast<size_t>(program.inputs[i])];
      CHECK(one.name == other.name);
      CHECK(one.storage == other.storage);
      CHECK(one.constant == other.constant);
      same.emplace(ordered.inputs[i], inputs.at(program.inputs[i]));
    }
    const auto values = reference::evaluate(ordered, same).value();
    REQUIRE(values.front().values.size() == expected.front().values.size());
    for (size_t n = 0; n < values.front().values.size(); ++n)
      CHECK(values.front().values[n] == Approx(expected.front().values[n]));
  }
}

TEST_CASE("orders are the same whichever operand of a step comes first") {
  CHECK(is_same_order({{0, 1}, {3, 2}}, {{1, 0}, {2, 3}}, 3));
  CHECK_FALSE(is_same_order({{0, 1}, {3, 2}}, {{1, 2}, {0, 3}}, 3));
  CHECK(is_same_order({{0, 1}, {2, 3}, {4, 5}}, {{3, 2}, {1, 0}, {5, 4}}, 4));
}

TEST_CASE("what is no product of whole tensors is no network") {
  const auto network = [](const std::string& text, const ir::Sizes& sizes) {
    return network_of(ir::bind(tc::parse(text, "f.tc").value().programs.front(), sizes).value()).has_value();
  };
  const ir::Sizes n{{"N", 5}};
  const std::string head = "def f(float(N,N) A, float(N,N) B, float(N,N) C) -> (T, O) { T(i,j) +=! A(i,k) * B(k,j) ";
  CHECK(network("def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) +=! A(i,k) * B(k,j) }", n));
  CHECK_FALSE(network("def f(float(N,N) A) -> (O) { O(i,j) +=! A(i,k) * A(k,j) }", n));
  CHECK_FALSE(network("def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) max=! A(i,k) * B(k,j) }", n));
  CHECK_FALSE(network("def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) +=! A(i,k) + B(k,j) }", n));
  CHECK_FALSE(network("def f(float(N,N) A, float(N,N) B) -> (O) { O(i) +=! A(i,i) * B(k,i) }", n));
  CHECK_FALSE(network("def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) +=! A(i,k) * B(k,j) where k in 0:3 }", n));
  CHECK_FALSE(network(head + "O(i,j) +=! T(i,k) * C(k,j) }", n));  // T is an output, too
  CHECK(network_of(einsum_at("...a,...a,ab->...b", {{5, 3}, {5, 3}, {3, 4}})));
  CHECK_FALSE(network_of(einsum_at("...a,...a,ab->...b", {{5, 3}, {1, 3}, {3, 4}})));  // repeated
}

TEST_CASE("an order that was asked for is not free") {
  const Shapes shapes{{2, 3}, {3, 4}, {4, 5}};
  CHECK(einsum_at("ab,bc,cd->ad", shapes).free_order);
  CHECK_FALSE(einsum_at("(ab,bc),cd->ad", shapes).free_order);
  CHECK_FALSE(einsum_at("ab,bc->ac", {{2, 3}, {3, 4}}).free_order);
}

TEST_CASE("a step of a network is the product that is tuned alone") {
  const auto chain = workload_of(einsum_at("ij,jk,kl->il", {{64, 50}, {50, 40}, {40, 30}}));
  const auto steps = steps_of(chain.program);
  REQUIRE(steps.size() == 2);
  const auto first = workload_of(einsum_at("xy,yz->xz", {{64, 50}, {50, 40}}));
  const auto second = workload_of(einsum_at("xy,yz->xz", {{64, 40}, {40, 30}}));
  const auto reversed = workload_of(einsum_at("xy,yz->xz", {{50, 40}, {40, 30}}));
  const auto hashes = [&] {
    std::set<std::string> all;
    for (const auto& step : steps) all.insert(step.workload.row.content_hash);
    return all;
  }();
  const bool is_left_first = hashes.contains(first.row.content_hash);
  CHECK(hashes.contains(is_left_first ? second.row.content_hash : reversed.row.content_hash));
  for (const auto& step : steps) {
    CHECK(step.workload.row.frontend == "einsum");
    CHECK(step.workload.row.layout == "row");
  }
  CHECK(steps_of(first.program).empty());
}

TEST_CASE("a network takes the schedules of its steps, whatever they number their loops and operands by") {
  // The steps' own canonical forms have operands and reduction loops in other orders than the network's.
  const std::vector<std::pair<std::string, Shapes>> cases{
      {"ij,jk,kl->il", {{64, 50}, {50, 40}, {40, 30}}},
      {"abcd,cdbe,ef->af", {{24, 8, 9, 10}, {9, 10, 8, 40}, {40, 32}}},
      {"dbc,abcd,ae->e", {{9, 7, 16}, {40, 7, 16, 9}, {40, 33}}},
      {"bij,bjk,kl->bil", {{6, 31, 33}, {6, 33, 48}, {48, 17}}},
      // Two dimensions that collapse, in both steps; in the first alone.
      {"abi,ij,jkl->abkl", {{5, 7, 33}, {33, 31}, {31, 4, 9}}},
      {"abi,ij,bjk->abk", {{5, 7, 33}, {33, 31}, {7, 31, 9}}},
  };
  search::Rng rng(11);
  size_t taken = 0;
  for (const auto& [subscripts, shapes] : cases) {
    INFO(subscripts);
    const auto network = workload_of(einsum_at(subscripts, shapes));
    const search::Space space(network.program, avx2());
    const size_t taken_before = taken;
    for (int draw = 0; draw < 5; ++draw) {
      TunedDatabase tuned;
      std::vector<codegen::Schedule> drawn;
      for (const auto& step : steps_of(network.program)) {
        drawn.push_back(search::Space(step.workload.program, avx2()).sample(rng).schedule);
        tuned.keep(step.workload, drawn.back(), 1000);
      }
      const auto schedule = schedule_of_steps(network, avx2(), tuned.stack()).value();
      if (!schedule) continue;
      CHECK(codegen::check_for(avx2(), network.program, *schedule));
      for (const auto& step : steps_of(network.program)) {
        const auto* nest = schedule->stages[step.statement].find_nest();
        const auto& own = drawn[step.statement].stages.front().nest();
        if (!nest || nest->compute_at || nest->tiles != own.tiles) continue;
        ++taken;
        CHECK(nest->mapping.index() == own.mapping.index());
        CHECK(nest->lanes() == own.lanes());
        CHECK(nest->packings.size() == own.packings.size());
        auto blocks = nest->reduction_block, own_blocks = own.reduction_block;
        std::sort(blocks.begin(), blocks.end());
        std::sort(own_blocks.begin(), own_blocks.end());
        CHECK(blocks == own_blocks);
      }
    }
    if (subscripts == "abi,ij,jkl->abkl") CHECK(taken > taken_before);
  }
  CHECK(taken > 20);
}

TEST_CASE("a network of which nothing is tuned has no schedule of its steps") {
  const auto network = workload_of(einsum_at("ij,jk,kl->il", {{64, 50}, {50, 40}, {40, 30}}));
  TunedDatabase empty;
  CHECK_FALSE(schedule_of_steps(network, avx2(), empty.stack()).value());
  std::vector<db::Database> none;
  CHECK_FALSE(schedule_of_steps(network, avx2(), none).value());
}

TEST_CASE("the order of a network follows measured times where its steps have them") {
  // From the left 2 * 40 * 40 * (48 + 40) FLOP, from the right 2 * 40 * 40 * (48 + 48).
  const auto bound = einsum_at("ij,jk,kl->il", {{40, 40}, {40, 48}, {48, 40}});
  const auto own = workload_of(bound);
  const auto network = network_of(bound).value();
  const plan::Order left{{0, 1}, {3, 2}}, right{{1, 2}, {0, 3}};
  const auto& other_order = is_same_order(network.order, left, 3) ? right : left;
  const auto other = workload_of(in_order(bound, network, other_order).value());
  const auto cost = cost_of_steps(false);
  const auto chosen = [&](TunedDatabase& tuned) {
    const auto best = in_best_order(own, bound, cost, avx2(), tuned.stack()).value();
    return best ? best->row.content_hash : own.row.content_hash;
  };
  const auto keep_steps = [](TunedDatabase& tuned, const Workload& workload, double each) {
    for (const auto& step : steps_of(workload.program)) tuned.keep_default(step.workload, each);
  };
  TunedDatabase tuned;
  CHECK(chosen(tuned) == own.row.content_hash);
  keep_steps(tuned, other, 10);
  CHECK(chosen(tuned) == own.row.content_hash);  // nothing to compare with
  keep_steps(tuned, own, 100);
  CHECK(chosen(tuned) == other.row.content_hash);
  tuned.keep_default(own, 30);  // as a whole
  CHECK(chosen(tuned) == own.row.content_hash);
  tuned.keep_default(other, 29.9);
  CHECK(chosen(tuned) == own.row.content_hash);  // no more than times differ by for no reason
  tuned.keep_default(other, 20);
  CHECK(chosen(tuned) == other.row.content_hash);

  auto fixed = bound;
  fixed.free_order = false;
  CHECK_FALSE(in_best_order(own, fixed, cost, avx2(), tuned.stack()).value());
}

TEST_CASE("what steps leave in memory counts in the order of a network") {
  // From the left 2 * 200 * 21 * (60 + 60) FLOP, from the right 2 * 60 * 60 * (200 + 21); what is between has 4,200 and
  // 3,600 elements.
  const auto bound = einsum_at("ij,jk,kl->il", {{200, 60}, {60, 21}, {21, 60}});
  std::vector<db::Database> none;
  const auto order_by = [&](const plan::TrafficCost& cost) {
    const auto best = in_best_order(workload_of(bound), bound, cost, avx2(), none).value();
    return network_of(best ? best->program : bound)->order;
  };
  CHECK(is_same_order(order_by([](double flops, double) { return flops; }), {{0, 1}, {3, 2}}, 3));
  CHECK(is_same_order(order_by([](double, double bytes) { return bytes; }), {{1, 2}, {0, 3}}, 3));
}

TEST_CASE("steps are searched first, with their parts of half of what is asked for") {
  const auto network = workload_of(einsum_at("ij,jk,kl->il", {{64, 50}, {50, 40}, {40, 30}}));
  const std::atomic<bool> stop = false;
  const auto trials_of = [&](TunedDatabase& tuned, TuningRequest request, bool fails = false) {
    Settings settings;
    settings.databases = {tuned.file()};
    const Session session{.settings = settings, .report = Reporter({})};
    std::vector<int> trials;
    Watch watch{now_seconds(), stop};
    const auto tune = [&](const NetworkStep& step, const TuningRequest& own, const Watch&) -> Result<void> {
      CHECK(own.seeds.empty());
      CHECK(own.may_begin);
      trials.push_back(*own.trials);
      if (fails) return failure("no", "it does not work");
      tuned.keep_default(step.workload, 100);
      return {};
    };
    const auto rest = tune_steps(network, avx2(), request, watch, session, tune).value();
    trials.push_back(rest.trials.value_or(-1));
    return trials;
  };
  TuningRequest request;
  request.trials = 100;
  request.seeds.resize(1);
  double flops = 0;
  for (const auto& step : steps_of(network.program)) flops += step.workload.row.flops;
  CHECK(flops == network.row.flops);
  TunedDatabase tuned;
  const auto first = trials_of(tuned, request, true);  // what fails is told, and has no record
  REQUIRE(first.size() == 3);
  CHECK(first[0] + first[1] == 50);
  CHECK(first[2] == 50);
  CHECK(trials_of(tuned, request) == first);
  CHECK(trials_of(tuned, request) == std::vector<int>{100});  // both are tuned

  TunedDatabase fresh;
  request.trials = 10;
  CHECK(trials_of(fresh, request) == std::vector<int>{10});  // too few for each
  request.trials = 100;
  request.resume = true;
  CHECK(trials_of(fresh, request) == first);
  request.trials.reset();
  CHECK(trials_of(fresh, request) == std::vector<int>{-1});  // what the whole's session has left
}
