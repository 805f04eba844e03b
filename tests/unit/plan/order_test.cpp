// The order of contractions.
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "frontend/plan/cheap_orders.h"
#include "frontend/plan/order.h"
#include "frontend/plan/order_search.h"

using namespace tile_tune;
using namespace tile_tune::plan;

namespace {

constexpr int i = 0, j = 1, k = 2, l = 3;

struct TestNetwork {
  std::vector<AxisSet> operands;
  AxisSet needed;
  std::vector<double> extents;
};

std::string text_of(const TestNetwork& network) {
  std::string text;
  const auto add = [&](const AxisSet& axes) {
    for (const int axis : axes) text += std::to_string(axis) + " ";
  };
  for (const auto& operand : network.operands) {
    add(operand);
    text += ", ";
  }
  text += "-> ";
  add(network.needed);
  text += "extents ";
  for (const double extent : network.extents) text += std::to_string(static_cast<int>(extent)) + " ";
  return text;
}

/// Axes of one to four operands, most of two, extents of 1 and odd ones among them, some needed.
TestNetwork random_network(std::mt19937& engine, size_t operands) {
  TestNetwork network;
  network.operands.resize(operands);
  const auto below = [&](size_t count) { return engine() % count; };
  constexpr double kExtents[] = {1, 2, 3, 4, 5, 7};
  const size_t axes = operands + 1 + below(operands);
  for (size_t axis = 0; axis < axes; ++axis) {
    constexpr size_t kHolders[] = {1, 2, 2, 2, 2, 3, 4};
    for (size_t n = kHolders[below(std::size(kHolders))]; n > 0; --n)
      network.operands[below(operands)].insert(static_cast<int>(axis));
    if (below(6) == 0) network.needed.insert(static_cast<int>(axis));
    network.extents.push_back(kExtents[below(std::size(kExtents))]);
  }
  return network;
}

TestNetwork chain(std::mt19937& engine, int matrices) {
  TestNetwork network;
  for (int n = 0; n < matrices; ++n) network.operands.push_back({n, n + 1});
  for (int n = 0; n <= matrices; ++n) network.extents.push_back(1 + static_cast<double>(engine() % 40));
  network.needed = {0, matrices};
  return network;
}

TestNetwork grid(size_t rows, size_t columns, double extent) {
  TestNetwork network;
  network.operands.resize(rows * columns);
  const auto bond = [&](size_t a, size_t b) {
    for (const size_t site : {a, b}) network.operands[site].insert(static_cast<int>(network.extents.size()));
    network.extents.push_back(extent);
  };
  for (size_t site = 0; site < rows * columns; ++site) {
    if (site % columns + 1 < columns) bond(site, site + 1);
    if (site + columns < rows * columns) bond(site, site + columns);
  }
  return network;
}

/// Of two operands what is left, and what that costs.
std::pair<AxisSet, double> contracted(const TestNetwork& network, const std::vector<AxisSet>& pieces, size_t left,
                                      size_t right, const Cost& cost) {
  AxisSet needed = network.needed;
  for (size_t n = 0; n < pieces.size(); ++n)
    if (n != left && n != right) needed.insert(pieces[n].begin(), pieces[n].end());
  const Step step = contract(pieces[left], pieces[right], needed);
  const auto volume = [&](const AxisSet& axes) {
    double product = 1;
    for (const int axis : axes) product *= network.extents[static_cast<size_t>(axis)];
    return product;
  };
  AxisSet all = step.result;
  all.insert(step.summed.begin(), step.summed.end());
  double flops = volume(all) * (step.summed.empty() ? 1 : 2);
  if (!step.sum_left.empty()) flops += volume(pieces[left]);
  if (!step.sum_right.empty()) flops += volume(pieces[right]);
  return {step.result, cost(flops, volume(step.result))};
}

double cost_of(const TestNetwork& network, const Order& order, const Cost& cost) {
  auto pieces = network.operands;
  std::vector<size_t> numbers(pieces.size());  // of the pieces that are there
  for (size_t n = 0; n < numbers.size(); ++n) numbers[n] = n;
  double total = 0;
  size_t next = pieces.size();
  for (const auto& [first, second] : order) {
    const auto place = [&](int number) {
      const auto at = std::find(numbers.begin(), numbers.end(), static_cast<size_t>(number));
      REQUIRE(at != numbers.end());
      return static_cast<size_t>(at - numbers.begin());
    };
    const size_t left = place(first), right = place(second);
    REQUIRE(left != right);
    auto [result, step] = contracted(network, pieces, left, right, cost);
    total += step;
    for (const size_t gone : {std::max(left, right), std::min(left, right)}) {
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(gone));
      numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    pieces.push_back(std::move(result));
    numbers.push_back(next++);
  }
  CHECK(pieces.size() == 1);
  return total;
}

/// Over all orders, one after the other; given up where it costs as much as one before.
void try_orders(const TestNetwork& network, const std::vector<AxisSet>& pieces, double before, const Cost& cost,
                double& least) {
  if (pieces.size() == 1) least = std::min(least, before);
  for (size_t left = 0; left < pieces.size(); ++left)
    for (size_t right = left + 1; right < pieces.size(); ++right) {
      auto [result, step] = contracted(network, pieces, left, right, cost);
      if (before + step >= least) continue;
      auto rest = pieces;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(right));
      rest[left] = std::move(result);
      try_orders(network, rest, before + step, cost, least);
    }
}

double least_cost(const TestNetwork& network, const Cost& cost) {
  double least = std::numeric_limits<double>::infinity();
  try_orders(network, network.operands, 0, cost, least);
  return least;
}

}  // namespace

TEST_CASE("without sizes left to right") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  CHECK(best_order(chain, {i, l}, std::nullopt) == Order{{0, 1}, {3, 2}});
  CHECK(best_order({{i}}, {i}, std::nullopt).empty());
  const std::vector<AxisSet> seven(7, {i});
  CHECK(best_order(seven, {i}, std::nullopt) == Order{{0, 1}, {7, 2}, {8, 3}, {9, 4}, {10, 5}, {11, 6}});
}

TEST_CASE("the cheapest order, and the leftmost of equals") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  // (AB)C: 2*(10*100*5 + 10*5*50) = 15000 FLOP; A(BC): 2*(100*5*50 + 10*100*50) = 150000.
  CHECK(best_order(chain, {i, l}, std::vector<double>{10, 100, 5, 50}) == Order{{0, 1}, {3, 2}});
  // The chain of the suite whose order from the left costs 32 times as much.
  CHECK(best_order(chain, {i, l}, std::vector<double>{1024, 1024, 1024, 16}) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(chain, {i, l}, std::vector<double>{8, 8, 8, 8}) == Order{{0, 1}, {3, 2}});
  // Two vectors onto a matrix from both sides: never their outer product.
  CHECK(best_order({{i}, {j}, {i, j}}, {}, std::vector<double>{100, 100}) == Order{{0, 2}, {3, 1}});
  // An outer product of two short vectors first, then one pass over the large operand.
  CHECK(best_order({{i, j}, {i}, {j}}, {i, j}, std::vector<double>{100, 100}).size() == 2);
}

TEST_CASE("of two ways to scale that cost the same, that of the last operand") {
  const std::vector<AxisSet> scaled{{i, k}, {k}, {k, j}};
  CHECK(best_order(scaled, {i, j}, std::vector<double>{64, 64, 64}) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(scaled, {i, j}, std::vector<double>{8, 64, 64}) ==
        Order{{0, 1}, {3, 2}});  // the smaller one costs less
}

TEST_CASE("a step sums beforehand only what it would otherwise sum again and again") {
  // ij,k->ik: j before, or the sum is repeated for every k.
  const Step before = contract({i, j}, {k}, {i, k});
  CHECK(before.sum_left == AxisSet{j});
  CHECK(before.result == AxisSet{i, k});
  CHECK(before.summed.empty());
  // ij,i->i: j within.
  const Step within = contract({i, j}, {i}, {i});
  CHECK(within.sum_left.empty());
  CHECK(within.summed == AxisSet{j});
  const Step both = contract({i}, {j}, {});
  CHECK(both.sum_left == AxisSet{i});
  CHECK(both.sum_right == AxisSet{j});
}

TEST_CASE("what a step leaves behind has its cost") {
  // (AB)C: 5200 FLOP, of which 100 elements are left; A(BC): 4800 and 120.
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  const std::vector<double> extents{10, 6, 10, 20};
  const Cost by_elements = [](double flops, double elements) { return flops + 1000 * elements; };
  CHECK(best_order(chain, {i, l}, extents) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(chain, {i, l}, extents, by_elements) == Order{{0, 1}, {3, 2}});
}

TEST_CASE("up to ten operands no order is cheaper") {
  std::mt19937 engine(20'261'124);
  const Cost with_traffic = [](double flops, double elements) { return flops + (elements > 40 ? 20 * elements : 0); };
  const auto judge = [&](size_t operands, int count) {
    for (int run = 0; run < count; ++run) {
      const auto network = random_network(engine, operands);
      INFO(text_of(network));
      for (const Cost& cost : {Cost(flops_alone), with_traffic})
        CHECK(cost_of(network, best_order(network.operands, network.needed, network.extents, cost), cost) ==
              least_cost(network, cost));
    }
  };
  for (size_t operands = 2; operands <= 5; ++operands) judge(operands, 60);
  judge(6, 20);
  judge(7, 6);
  judge(8, 2);
}

TEST_CASE("a chain of ten matrices has the order of the textbook") {
  std::mt19937 engine(3);
  for (int run = 0; run < 20; ++run) {
    const auto network = chain(engine, 10);
    const auto order = best_order(network.operands, network.needed, network.extents);
    // The least over all places to split a chain at: table[from][to] of matrices from to to.
    double table[10][10] = {};
    for (size_t length = 1; length < 10; ++length)
      for (size_t from = 0; from + length < 10; ++from) {
        double& least = table[from][from + length] = std::numeric_limits<double>::infinity();
        for (size_t split = from; split < from + length; ++split)
          least = std::min(
              least, table[from][split] + table[split + 1][from + length] +
                         2 * network.extents[from] * network.extents[split + 1] * network.extents[from + length + 1]);
      }
    CHECK(cost_of(network, order, flops_alone) == table[0][9]);
  }
}

TEST_CASE("matrices that end in a vector are multiplied from there") {
  for (const size_t count : {7, 10, 11, 40, 200}) {
    TestNetwork network;
    for (size_t n = 0; n < count; ++n) {
      network.operands.push_back({static_cast<int>(n)});
      if (n + 1 < count) network.operands.back().insert(static_cast<int>(n) + 1);
      network.extents.push_back(64);
    }
    network.needed = {0};
    const auto order = best_order(network.operands, network.needed, network.extents);
    CHECK(cost_of(network, order, flops_alone) == static_cast<double>(count - 1) * 2 * 64 * 64);
  }
}

TEST_CASE("grids of ten, thirty and two hundred operands have a better order than row by row") {
  for (const size_t count : {10, 30, 200}) {
    const auto network = grid(count / 5, 5, 4);
    const auto order = best_order(network.operands, network.needed, network.extents);
    // Row by row, which is good here.
    CHECK(cost_of(network, order, flops_alone) < cost_of(network, left_to_right(count), flops_alone));
  }
}

TEST_CASE("an order of many operands is the same each time, and far better than one from the left") {
  std::mt19937 engine(5);
  for (const size_t count : {11, 20, 60}) {
    const auto network = random_network(engine, count);
    const auto order = best_order(network.operands, network.needed, network.extents);
    CHECK(order == best_order(network.operands, network.needed, network.extents));
    CHECK(cost_of(network, order, flops_alone) < cost_of(network, left_to_right(count), flops_alone) / 4);
  }
}

TEST_CASE("a search finds what is best of few operands, too") {
  std::mt19937 engine(11);
  for (int run = 0; run < 60; ++run) {
    const auto network = random_network(engine, 8);
    INFO(text_of(network));
    const auto best = best_order(network.operands, network.needed, network.extents);
    const auto found =
        searched_order(network.operands, network.needed, network.extents, flops_alone, {4, 1, 2000, 8, 1});
    CHECK(cost_of(network, found, flops_alone) == cost_of(network, best, flops_alone));
  }
}

TEST_CASE("networks at the limits have an order") {
  // One label in every operand, none in two of them, no sum at all, nothing in an empty one.
  const std::vector<AxisSet> batch(40, {i, j});
  CHECK(best_order(batch, {i}, std::vector<double>{3, 1}).size() == 39);
  std::vector<AxisSet> apart;
  for (int n = 0; n < 30; ++n) apart.push_back({n});
  CHECK(best_order(apart, {}, std::vector<double>(30, 7)).size() == 29);
  CHECK(best_order(apart, AxisSet{0, 4, 9}, std::vector<double>(30, 0)).size() == 29);
  CHECK(best_order(std::vector<AxisSet>(12), {}, std::vector<double>{}).size() == 11);
  // What no number can hold.
  CHECK(best_order(std::vector<AxisSet>(12, {i, j}), {i, j}, std::vector<double>{1e200, 1e200}).size() == 11);
  CHECK(best_order(std::vector<AxisSet>(6, {i, j}), {i, j}, std::vector<double>{1e200, 1e200}).size() == 5);
  // A label in all of three hundred operands has 45,000 pairs, each time a greedy tree is made.
  std::vector<AxisSet> many;
  for (int n = 0; n < 300; ++n) many.push_back({0, 1 + n, 2 + n});
  CHECK(best_order(many, {0}, std::vector<double>(302, 2)).size() == 299);
  const auto large = grid(100, 5, 8);
  const auto order = best_order(large.operands, large.needed, large.extents);
  CHECK(cost_of(large, order, flops_alone) < cost_of(large, left_to_right(500), flops_alone));
}

TEST_CASE("cheap orders are all the orders within a factor of the best, each once, the cheapest first") {
  std::mt19937 engine(5);
  const auto steps_of = [](const Order& order, size_t operands) {
    std::vector<std::set<int>> pieces;
    for (size_t n = 0; n < operands; ++n) pieces.push_back({static_cast<int>(n)});
    for (const auto& [left, right] : order) {
      pieces.push_back(pieces[static_cast<size_t>(left)]);
      pieces.back().insert(pieces[static_cast<size_t>(right)].begin(), pieces[static_cast<size_t>(right)].end());
    }
    return std::set<std::set<int>>(pieces.begin(), pieces.end());
  };
  // (2n - 3)!! ways to put n operands into pairs.
  constexpr size_t kWays[] = {0, 0, 1, 3, 15, 105, 945};
  for (int round = 0; round < 60; ++round) {
    const size_t operands = 2 + static_cast<size_t>(round) % (kMaxCompared - 1);
    const auto network = random_network(engine, operands);
    INFO(text_of(network));
    const auto orders_within = [&](double within, size_t most) {
      return cheap_orders(network.operands, network.needed, network.extents, flops_alone, within, most);
    };
    const auto all = orders_within(std::numeric_limits<double>::infinity(), 1000);
    REQUIRE(all.size() == kWays[operands]);
    std::set<std::set<std::set<int>>> distinct;
    std::vector<double> costs;
    for (const auto& order : all) {
      distinct.insert(steps_of(order, operands));
      costs.push_back(cost_of(network, order, flops_alone));
    }
    CHECK(distinct.size() == all.size());
    CHECK(std::is_sorted(costs.begin(), costs.end()));
    const auto best = best_order(network.operands, network.needed, network.extents);
    CHECK(costs.front() == cost_of(network, best, flops_alone));
    const auto few = orders_within(1.5, 1000);
    const auto is_cheap = [&](double cost) { return cost <= 1.5 * costs.front(); };
    CHECK(few.size() == static_cast<size_t>(std::count_if(costs.begin(), costs.end(), is_cheap)));
    CHECK(orders_within(1.5, 2).size() == std::min<size_t>(2, few.size()));
  }
}
