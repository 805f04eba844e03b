// order_networks [--seconds S]: of each network (a line of JSON: operands, result, extents; networks.py) the order that
// planning finds, and the CPU time that took. With a time it searches again and again from other seeds.
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "frontend/plan/order_search.h"

using namespace tile_tune;

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Problem {
  std::vector<plan::AxisSet> operands;
  plan::AxisSet needed;
  std::vector<double> extents;
};

double flops(const Problem& problem, const plan::Order& order) {
  std::vector<int> uses(problem.extents.size());
  for (const int axis : problem.needed) ++uses[axis];
  for (const auto& operand : problem.operands)
    for (const int axis : operand) ++uses[axis];
  const auto volume = [&](const plan::AxisSet& axes) {
    double product = 1;
    for (const int axis : axes) product *= problem.extents[axis];
    return product;
  };
  auto pieces = problem.operands;
  double total = 0;
  for (const auto& [l, r] : order) {
    const auto left = pieces[l], right = pieces[r];
    plan::AxisSet needed;
    for (const auto& piece : {left, right})
      for (const int axis : piece) --uses[axis];
    for (const auto& piece : {left, right})
      for (const int axis : piece)
        if (uses[axis] > 0) needed.insert(axis);
    const auto step = plan::contract(left, right, needed);
    auto axes = step.result;
    axes.insert(step.summed.begin(), step.summed.end());
    total += volume(axes) * (step.summed.empty() ? 1 : 2);
    if (!step.sum_left.empty()) total += volume(left);
    if (!step.sum_right.empty()) total += volume(right);
    for (const int axis : step.result) ++uses[axis];
    pieces.push_back(step.result);
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc == 3 && std::string(argv[1]) == "--seconds" ? std::stod(argv[2]) : 0;
  for (std::string line; std::getline(std::cin, line);) {
    const auto json = nlohmann::json::parse(line);
    Problem problem;
    for (const auto& operand : json.at("operands")) problem.operands.push_back(operand.get<plan::AxisSet>());
    problem.needed = json.at("result").get<plan::AxisSet>();
    problem.extents = json.at("extents").get<std::vector<double>>();
    const double begin = cpu_seconds();
    auto best = plan::best_order(problem.operands, problem.needed, problem.extents);
    double took = cpu_seconds() - begin;
    auto effort = plan::usual_effort(problem.operands.size());
    for (; took < seconds; took = cpu_seconds() - begin) {
      ++effort.seed;
      auto order = plan::searched_order(problem.operands, problem.needed, problem.extents, plan::flops_alone, effort);
      if (flops(problem, order) < flops(problem, best)) best = std::move(order);
    }
    std::cout << nlohmann::json{{"order", best}, {"seconds", took}}.dump() << '\n';
  }
}
