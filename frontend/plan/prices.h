// What steps between sets of labels cost.
#pragma once

#include <vector>

#include "frontend/plan/label_set.h"
#include "frontend/plan/order.h"

namespace tile_tune::plan {

template <size_t Words>
class Prices {
 public:
  using Set = LabelSet<Words>;

  /// `extents` by label: quick where labels of one extent stand together.
  Prices(const std::vector<double>& extents, const Cost& cost) : cost_(cost) {
    for (size_t label = 0; label < extents.size(); ++label) {
      const uint64_t bit = uint64_t{1} << (label % 64);
      if (label % 64 == 0 || extents[label] != extents[label - 1]) runs_.push_back({label / 64, 0, {1}});
      auto& [word, mask, powers] = runs_.back();
      mask |= bit;
      powers.push_back(powers.back() * extents[label]);
    }
  }

  double volume(const Set& labels) const {
    double product = 1;
    for (const auto& run : runs_)
      if (const uint64_t bits = labels.words[run.word] & run.mask)
        product *= run.powers[static_cast<size_t>(std::popcount(bits))];
    return product;
  }

  /// As contract() has it: what one side alone holds is summed beforehand if the step would repeat that sum.
  double flops(const Set& left, const Set& right, const Set& result) const {
    const Set gone_left = left - right - result, gone_right = right - left - result;
    const Set all = left | right;
    if (gone_left.empty() && gone_right.empty()) return volume(all) * (all == result ? 1 : 2);
    const Set sum_left = (right - left).empty() ? Set{} : gone_left;
    const Set sum_right = (left - right).empty() ? Set{} : gone_right;
    const Set axes = all - sum_left - sum_right;
    double sum = volume(axes) * (axes == result ? 1 : 2);
    if (!sum_left.empty()) sum += volume(left);
    if (!sum_right.empty()) sum += volume(right);
    return sum;
  }

  double step(const Set& left, const Set& right, const Set& result) const {
    return cost_(flops(left, right, result), volume(result));
  }
  double step(double flops, double elements) const { return cost_(flops, elements); }

 private:
  struct Run {
    size_t word;
    uint64_t mask;
    std::vector<double> powers;  // of the extent, by how many of the labels a set has
  };
  const Cost& cost_;
  std::vector<Run> runs_;
};

}  // namespace tile_tune::plan
