#include "frontend/plan/blocks.h"

#include <bit>
#include <limits>

#include "frontend/plan/exact.h"
#include "frontend/plan/leaves.h"

namespace tile_tune::plan {
namespace {

/// Every way to divide a set of operands into blocks, given up where the blocks so far cost as much as the best:
/// 115,975 ways for ten operands.
template <size_t Words>
class Division {
 public:
  using Set = LabelSet<Words>;

  Division(const ExactOrder<Words>& exact, const Prices<Words>& prices, const Set& visited, size_t others)
      : exact_(exact), prices_(prices), visited_(visited), others_(static_cast<double>(others)) {}

  std::vector<unsigned> best() {
    divide(exact_.all(), visited_, 0);
    return best_;
  }

 private:
  void divide(unsigned rest, const Set& inside, double cost) {
    if (rest == 0) {
      const double pieces = static_cast<double>(blocks_.size()) + others_;
      if (pieces < 2) return;
      cost += prices_.step(prices_.volume(inside) * pieces, 0);
      if (!(cost < best_cost_)) return;
      best_cost_ = cost;
      best_ = blocks_;
      return;
    }
    if (!(cost < best_cost_)) return;
    const unsigned first = rest & -rest, others = rest ^ first;
    for (unsigned more = others;; more = (more - 1) & others) {
      const unsigned block = first | more;
      blocks_.push_back(block);
      divide(rest ^ block, inside | left_by(block), cost + cost_of(block));
      blocks_.pop_back();
      if (more == 0) break;
    }
  }

  Set left_by(unsigned block) const { return exact_.labels_outside(block); }

  double cost_of(unsigned block) const {
    if (!std::has_single_bit(block)) return exact_.cost(block);
    const Set left = left_by(block);
    if (left == exact_.labels(block)) return 0;
    return prices_.step(prices_.volume(exact_.labels(block)), prices_.volume(left));
  }

  const ExactOrder<Words>& exact_;
  const Prices<Words>& prices_;
  Set visited_;
  double others_;
  std::vector<unsigned> blocks_, best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<size_t> best_blocks(const std::vector<AxisSet>& operands, const AxisSet& needed,
                                const std::vector<double>& extents, const Cost& cost, const LastStep& last) {
  // One operand more that has what the last step visits: its labels are told apart from others.
  auto with_last = operands;
  with_last.push_back(last.visited);
  const Leaves leaves = leaves_of(with_last, needed, extents);
  std::vector<size_t> result(operands.size());
  with_words(leaves.extents.size(), [&]<size_t Words>() {
    std::vector<LabelSet<Words>> sets;
    for (const auto& operand : leaves.operands) sets.push_back(label_set<Words>(operand));
    const auto visited = sets.back();
    sets.pop_back();
    const Prices<Words> prices(leaves.extents, cost);
    ExactOrder<Words> exact(sets, label_set<Words>(leaves.needed), prices);
    exact.find();
    const auto blocks = Division<Words>(exact, prices, visited, last.others).best();
    for (size_t block = 0; block < blocks.size(); ++block)
      for (size_t i = 0; i < operands.size(); ++i)
        if (blocks[block] >> i & 1) result[i] = block;
  });
  return result;
}

}  // namespace tile_tune::plan
