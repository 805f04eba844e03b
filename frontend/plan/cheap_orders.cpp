#include "frontend/plan/cheap_orders.h"

#include <algorithm>
#include <bit>

#include "frontend/plan/exact.h"

namespace tile_tune::plan {
namespace {

/// How a set of operands becomes one piece: two parts, each in one of its own ways.
struct Way {
  double cost = 0;
  unsigned left = 0, right = 0;  // sets of operands, the first one on the left
  size_t left_way = 0, right_way = 0;
};

/// The ways of every set of operands that cost no more than `cap`.
template <size_t Words>
class Ways {
 public:
  Ways(const ExactOrder<Words>& exact, const Prices<Words>& prices, double cap) : ways_(size_t{exact.all()} + 1) {
    for (unsigned set = 1; set < ways_.size(); ++set) {
      if (std::has_single_bit(set)) {
        ways_[set].push_back({});
        continue;
      }
      const unsigned rest = set & (set - 1);
      for (unsigned right = rest; right > 0; right = (right - 1) & rest) {
        const unsigned left = set ^ right;
        const double step = prices.step(exact.labels(left), exact.labels(right), exact.labels(set));
        for (size_t l = 0; l < ways_[left].size(); ++l)
          for (size_t r = 0; r < ways_[right].size(); ++r)
            if (const double cost = ways_[left][l].cost + ways_[right][r].cost + step; cost <= cap)
              ways_[set].push_back({cost, left, right, l, r});
      }
      std::stable_sort(ways_[set].begin(), ways_[set].end(),
                       [](const Way& a, const Way& b) { return a.cost < b.cost; });
    }
  }

  size_t count() const { return ways_.back().size(); }

  Order order(size_t way) const {
    Order order;
    emit(static_cast<unsigned>(ways_.size() - 1), way, order);
    return order;
  }

 private:
  int emit(unsigned set, size_t way, Order& order) const {
    if (std::has_single_bit(set)) return std::countr_zero(set);
    const Way& one = ways_[set][way];
    const int left = emit(one.left, one.left_way, order), right = emit(one.right, one.right_way, order);
    order.emplace_back(left, right);
    return static_cast<int>(std::bit_width(ways_.size() - 1) + order.size() - 1);
  }

  std::vector<std::vector<Way>> ways_;  // by set
};

}  // namespace

std::vector<Order> cheap_orders(const std::vector<AxisSet>& operands, const AxisSet& needed,
                                const std::vector<double>& extents, const Cost& cost, double within, size_t most) {
  std::vector<Order> orders;
  with_exact_order(operands, needed, extents, cost, [&](const auto& exact, const auto& prices) {
    const Ways ways(exact, prices, within * exact.cost());
    for (size_t way = 0; way < std::min(most, ways.count()); ++way) orders.push_back(ways.order(way));
  });
  return orders;
}

}  // namespace tile_tune::plan
