#include "frontend/plan/search.h"

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
    for (auto& tree : starts) {
      reconfigure(tree);
      consider(tree);
      const auto steps = static_cast<double>(std::max<size_t>(1, tree.operands - 1));
      anneal(tree, prices_, {kHot, kCold, static_cast<int>(effort_.rotations / steps) + 1}, random_);
      reconfigure(tree);
      consider(tree);
    }
    return order_of(*best);
  }

 private:
  static constexpr double kHot = 2, kCold = 0.02;
  static constexpr int kRounds = 20;

  void reconfigure(Tree<Words>& tree) {
    Reconfiguration<Words>(tree, leaves_.extents, cost_, effort_.exact_leaves).run(kRounds);
  }

  /// The best of many, ascending.
  std::vector<Tree<Words>> greedy_trees() {
    std::vector<Tree<Words>> trees;
    const auto kept = static_cast<size_t>(std::max(1, effort_.annealings));
    for (int i = 0; i < std::max(1, effort_.greedy_trees); ++i) {
      GreedyWeights weights;
      if (i > 0) weights = {1.2 * random_.fraction(), 2 * random_.fraction()};
      auto tree = Greedy<Words>(leaves_, prices_, weights, random_).tree();
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
  // Enough that more made no order of the networks of tests/performance/plan cheaper by a tenth.
  constexpr double kRotationsEach = 1e4, kMostRotations = 2e6;
  return {64, 2, std::min(kRotationsEach * static_cast<double>(operands), kMostRotations), 8, 1};
}

Order searched_order(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
                     const Cost& cost, const Effort& effort) {
  const Leaves leaves = leaves_of(operands, needed, extents);
  Order order = left_to_right(operands.size());
  with_words(leaves.extents.size(), [&]<size_t Words>() { order = Search<Words>(leaves, cost, effort).order(); });
  return order;
}

}  // namespace tile_tune::plan
