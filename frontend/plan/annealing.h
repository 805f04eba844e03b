// Simulated annealing of trees by rotations: of three parts that two steps join, another two are joined first.
//
// The moves and the slow fall of the temperature are those of Kalachev, Panteleev, Yung, "Multi-tensor contraction for
// XEB verification of large-scale quantum circuits" (2021), known as TreeSA. A rotation changes two steps, and what
// counts is how these two compare with those before: also parts that hardly count in the whole become good.
#pragma once

#include <vector>

#include "frontend/plan/portable_random.h"
#include "frontend/plan/tree.h"

namespace tile_tune::plan {

struct Cooling {
  double from = 0, to = 0;  // temperatures: how many factors of two worse a rotation typically may be
  int sweeps = 0;           // in how many visits to every step
};

template <size_t Words>
void anneal(Tree<Words>& tree, const Prices<Words>& prices, const Cooling& cooling, Random& random) {
  using Set = LabelSet<Words>;
  auto& nodes = tree.nodes;
  const auto first = static_cast<uint32_t>(tree.operands);
  const auto steps = static_cast<uint32_t>(nodes.size()) - first;
  const double fall = (cooling.from - cooling.to) / std::max(1, cooling.sweeps - 1);
  for (int sweep = 0; sweep < cooling.sweeps; ++sweep) {
    const double temperature = cooling.from - fall * sweep;
    for (uint32_t visit = 0; visit < steps; ++visit) {
      auto& upper = nodes[first + random.below(steps)];
      const uint32_t turn = random.below(4);
      // The lower step is on one side of the upper one; the other side changes places with one of its two parts.
      int& side = turn & 1 ? upper.right : upper.left;
      int& other = turn & 1 ? upper.left : upper.right;
      if (!tree.is_step(side)) continue;
      auto& lower = nodes[static_cast<size_t>(side)];
      int& stays = turn & 2 ? lower.right : lower.left;
      int& leaves = turn & 2 ? lower.left : lower.right;
      const Set &a = nodes[static_cast<size_t>(stays)].labels, &b = nodes[static_cast<size_t>(leaves)].labels,
                &c = nodes[static_cast<size_t>(other)].labels;
      const Set joined = (a | c) & (b | upper.labels);
      const double of_lower = prices.step(a, c, joined);
      const double before = lower.cost + upper.cost, limit = random.patience() * temperature;
      if (of_lower > before && log2_of(of_lower / before) > limit) continue;
      const double of_upper = prices.step(joined, b, upper.labels);
      const double after = of_lower + of_upper;
      if (!(after <= before) && !(log2_of(after / before) <= limit)) continue;
      lower.labels = joined;
      lower.cost = of_lower;
      upper.cost = of_upper;
      std::swap(leaves, other);
    }
  }
}

}  // namespace tile_tune::plan
