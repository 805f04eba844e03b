#include "frontend/plan/order_search.h"

#include <algorithm>
#include <optional>

#include "frontend/plan/annealing.h"
#include "frontend/plan/greedy.h"
#include "frontend/plan/leaves.h"
#include "frontend/plan/reconfiguration.h"

namespace tile_tune::plan {
namespace {

template <size_t Words>
class Search {
 public:
  Search(const Leaves& leaves, const Cost& cost, const Effort& effort)
      : leaves_(leaves), cost_(cost), prices_(leaves.extents, cost), effort_(effort), random_(effort.seed) {}

  Order order() {
    auto starts = greedy_trees();
    std::optional<Tree<Words>> best;
    const auto consider = [&](const Tree<Words>& tree) {
      if (!best || tree.cost() < best->cost()) best = tree;
    };
    bool is_hot = false;
    for (auto& tree : starts) {
      reconfigure(tree);
      consider(tree);
      const auto steps = static_cast<double>(std::max<size_t>(1, tree.operands - 1));
      anneal(tree, prices_, {is_hot ? kHot : kWarm, kCold, static_cast<int>(effort_.rotations / steps) + 1}, random_);
      reconfigure(tree);
      consider(tree);
      is_hot = !is_hot;
    }
    return order_of(*best);
  }

 private:
  // Graphs and circuits want to begin at half a factor of two, labels of many operands at two.
  static constexpr double kHot = 2, kWarm = 0.5, kCold = 0.02;
  static constexpr int kRounds = 20;
  // Pairs that greedy trees weigh, 0.1 us each: labels of hundreds of operands have tens of thousands of them.
  static constexpr double kMostPairs = 4e6;

  void reconfigure(Tree<Words>& tree) {
    Reconfiguration<Words>(tree, leaves_.extents, cost_, effort_.exact_leaves).run(kRounds);
  }

  /// The best of many, ascending.
  std::vector<Tree<Words>> greedy_trees() {
    std::vector<Tree<Words>> trees;
    const auto kept = static_cast<size_t>(std::max(1, effort_.annealings));
    double pairs = 0;
    for (int i = 0; i < std::max(1, effort_.greedy_trees) && pairs < kMostPairs; ++i) {
      GreedyWeights weights;
      if (i > 0) weights = {1.2 * random_.fraction(), 2 * random_.fraction()};
      Greedy<Words> greedy(leaves_, prices_, weights, random_);
      auto tree = greedy.tree();
      pairs += greedy.pairs();
      const auto at = std::upper_bound(trees.begin(), trees.end(), tree.cost(),
                                       [](double cost, const auto& other) { return cost < other.cost(); });
      trees.insert(at, std::move(tree));
      if (trees.size() > kept) trees.pop_back();
    }
    return trees;
  }

  const Leaves& leaves_;
  const Cost& cost_;
  Prices<Words> prices_;
  Effort effort_;
  Random random_;
};

}  // namespace

Effort usual_effort(size_t operands) {
  // Annealings differ, so that more of them help more than longer ones: of eight of 1e6 rotations the best is within 2
  // % of what 5 s find on 19 of the 20 networks of tests/performance/plan (2026-11-24).
  constexpr double kRotationsEach = 1e4, kMostRotations = 1e6, kMostVisits = 2e8;
  const auto count = static_cast<double>(operands);
  return {64, 8, std::min({kRotationsEach * count, kMostRotations, kMostVisits / count}), 8, 1};
}

Order searched_order(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
                     const Cost& cost, const Effort& effort) {
  const Leaves leaves = leaves_of(operands, needed, extents);
  Order order = left_to_right(operands.size());
  with_words(leaves.extents.size(), [&]<size_t Words>() { order = Search<Words>(leaves, cost, effort).order(); });
  return order;
}

}  // namespace tile_tune::plan
