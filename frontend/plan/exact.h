// The best order of a few operands, by dynamic programming over sets of them.
//
// The best order of a set is the best split of it into two, each in its best order (Pfeifer, Haegeman, Verstraete,
// "Faster identification of optimal contraction sequences for tensor networks", Phys. Rev. E 90, 033315, 2014). Theirs
// looks at connected sets and at costs below a cap; here every set is looked at, outer products and labels of many
// operands included, and the cap is what is known to be possible: of sparse networks it leaves out what connectedness
// would, and never what is cheaper.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "frontend/plan/label_set.h"
#include "frontend/plan/leaves.h"
#include "frontend/plan/prices.h"

namespace tile_tune::plan {

template <size_t Words>
class ExactOrder {
 public:
  using Set = LabelSet<Words>;

  ExactOrder(const std::vector<Set>& operands, const Set& needed, const Prices<Words>& prices)
      : operands_(operands), needed_(needed), prices_(prices), best_(size_t{1} << operands.size()) {}

  /// Whether there is an order that costs at most `cap`, which is then found.
  bool find(double cap = std::numeric_limits<double>::infinity()) {
    cap_ = cap;
    std::vector<Set> inside(best_.size());
    for (unsigned set = 1; set < best_.size(); ++set)
      inside[set] = inside[set & (set - 1)] | operands_[static_cast<size_t>(std::countr_zero(set))];
    outside_.resize(best_.size());
    for (unsigned set = 1; set < best_.size(); ++set) {
      outside_[set] = inside[set] & (inside[all() ^ set] | needed_);
      const bool is_operand = std::has_single_bit(set);
      best_[set].labels = is_operand ? inside[set] : outside_[set];
      if (!is_operand) find_split(set);
    }
    return operands_.size() < 2 || best_.back().right != 0;
  }

  double cost() const { return best_.back().cost; }
  double cost(unsigned set) const { return best_[set].cost; }
  unsigned all() const { return static_cast<unsigned>(best_.size() - 1); }
  /// The parts that a set is made of, the first with its first operand.
  std::pair<unsigned, unsigned> parts(unsigned set) const { return {set ^ best_[set].right, best_[set].right}; }
  const Set& labels(unsigned set) const { return best_[set].labels; }
  /// Without what an operand alone has.
  const Set& labels_outside(unsigned set) const { return outside_[set]; }

 private:
  struct Best {
    Set labels;
    double cost = 0;
    double elements = 0;  // of its own and of what it is made from, operands aside
    int apart = 0;        // steps to it that sum nothing, the last operand not among what they multiply
    unsigned right = 0;   // the part without the first operand; 0: none is within the cap
  };

  void find_split(unsigned set) {
    Best& best = best_[set];
    best.cost = best.elements = std::numeric_limits<double>::infinity();
    const unsigned rest = set & (set - 1);  // the first operand stays on the left
    const bool has_last = set >> (operands_.size() - 1) & 1;
    const double left_behind = prices_.volume(best.labels);
    // Descending, and of equally good splits the one of the smallest part: it takes the last operand last.
    for (unsigned right = rest; right > 0; right = (right - 1) & rest) {
      const Best &l = best_[set ^ right], &r = best_[right];
      const double parts = l.cost + r.cost;
      if (parts > cap_ || (parts > best.cost && best.right != 0)) continue;
      const double flops = prices_.flops(l.labels, r.labels, best.labels);
      const double cost = parts + prices_.step(flops, left_behind);
      if (cost > cap_) continue;
      const double elements = l.elements + r.elements + left_behind;
      const bool sums = (l.labels | r.labels) != best.labels && sums_within(l.labels, r.labels, best.labels);
      const int apart = l.apart + r.apart + (!sums && !has_last ? 1 : 0);
      if (best.right != 0 && !(std::tuple(cost, elements, apart, std::popcount(right)) <
                               std::tuple(best.cost, best.elements, best.apart, std::popcount(best.right))))
        continue;
      best = {best.labels, cost, elements, apart, right};
    }
  }

  /// Beside what is summed of each alone beforehand.
  static bool sums_within(const Set& left, const Set& right, const Set& result) {
    const bool before_left = !(right - left).empty(), before_right = !(left - right).empty();
    return !((left & right) - result).empty() || (!before_left && !(left - right - result).empty()) ||
           (!before_right && !(right - left - result).empty());
  }

  const std::vector<Set>& operands_;
  const Set needed_;
  const Prices<Words>& prices_;
  double cap_ = 0;
  std::vector<Best> best_;
  std::vector<Set> outside_;
};

/// `act` on the best order, if there is one, and on what steps cost.
template <typename Do>
void with_exact_order(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
                      const Cost& cost, Do&& act) {
  const Leaves leaves = leaves_of(operands, needed, extents);
  with_words(leaves.extents.size(), [&]<size_t Words>() {
    std::vector<LabelSet<Words>> sets;
    for (const auto& operand : leaves.operands) sets.push_back(label_set<Words>(operand));
    const Prices<Words> prices(leaves.extents, cost);
    ExactOrder<Words> exact(sets, label_set<Words>(leaves.needed), prices);
    if (exact.find()) act(exact, prices);
  });
}

}  // namespace tile_tune::plan
