// Parts of a tree put into their best order (Gray, Kourtis 2021, "subtree reconfiguration"): a step and some of the
// steps below it become the best order of the parts they join.
#pragma once

#include <algorithm>
#include <vector>

#include "frontend/plan/exact.h"
#include "frontend/plan/tree.h"

namespace tile_tune::plan {

/// Until no part of so many leaves can be made cheaper, at most so many times through the whole tree.
template <size_t Words>
class Reconfiguration {
 public:
  Reconfiguration(Tree<Words>& tree, const std::vector<double>& extents, const Cost& cost, size_t leaves)
      : tree_(tree), extents_(extents), cost_(cost), leaves_(leaves) {}

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      bool changed = false;
      // From below: what is large further up is put together of what is good already.
      for (const int step : steps_from_below(tree_)) changed = improve(step) || changed;
      if (!changed) return;
    }
  }

 private:
  /// What falls short of this is a sum in another order.
  static constexpr double kCheaper = 1 - 1e-9;

  bool improve(int top) {
    collect(top);
    if (frontier_.size() < 3) return false;
    double cost = 0;
    for (const int step : inside_) cost += tree_.nodes[static_cast<size_t>(step)].cost;
    bool better = false;
    gather_labels(top);
    with_words(of_classes_.size(), [&]<size_t Local>() { better = exchange<Local>(cost); });
    return better;
  }

  /// The parts below a step: of those that are steps the one of the most expensive is opened next.
  void collect(int top) {
    inside_ = {top};
    const auto& nodes = tree_.nodes;
    frontier_ = {nodes[static_cast<size_t>(top)].left, nodes[static_cast<size_t>(top)].right};
    while (frontier_.size() < leaves_) {
      auto widest = frontier_.end();
      for (auto at = frontier_.begin(); at != frontier_.end(); ++at)
        if (tree_.is_step(*at) && (widest == frontier_.end() ||
                                   nodes[static_cast<size_t>(*at)].cost > nodes[static_cast<size_t>(*widest)].cost))
          widest = at;
      if (widest == frontier_.end()) return;
      const int opened = *widest;
      inside_.push_back(opened);
      *widest = nodes[static_cast<size_t>(opened)].left;
      frontier_.push_back(nodes[static_cast<size_t>(opened)].right);
    }
  }

  /// Labels of the same parts are one class.
  void gather_labels(int top) {
    LabelSet<Words> all;
    for (const int part : frontier_) all = all | tree_.nodes[static_cast<size_t>(part)].labels;
    const auto& needed = tree_.nodes[static_cast<size_t>(top)].labels;
    class_of_.assign(size_t{2} << frontier_.size(), -1);
    of_classes_.clear();
    extents_of_classes_.clear();
    all.for_each([&](int label) {
      unsigned holders = needed.contains(label) ? 1u << frontier_.size() : 0;
      for (size_t i = 0; i < frontier_.size(); ++i)
        if (tree_.nodes[static_cast<size_t>(frontier_[i])].labels.contains(label)) holders |= 1u << i;
      int& number = class_of_[holders];
      if (number < 0) {
        number = static_cast<int>(of_classes_.size());
        of_classes_.push_back({holders, {}});
        extents_of_classes_.push_back(1);
      }
      of_classes_[static_cast<size_t>(number)].labels.insert(label);
      extents_of_classes_[static_cast<size_t>(number)] *= extents_[static_cast<size_t>(label)];
    });
  }

  template <size_t Local>
  bool exchange(double cost) {
    std::vector<LabelSet<Local>> parts(frontier_.size());
    LabelSet<Local> needed;
    for (size_t c = 0; c < of_classes_.size(); ++c) {
      for (size_t i = 0; i < parts.size(); ++i)
        if (of_classes_[c].holders >> i & 1) parts[i].insert(static_cast<int>(c));
      if (of_classes_[c].holders >> parts.size() & 1) needed.insert(static_cast<int>(c));
    }
    const Prices<Local> prices(extents_of_classes_, cost_);
    ExactOrder<Local> exact(parts, needed, prices);
    if (!exact.find(cost) || !(exact.cost() < kCheaper * cost)) return false;
    free_ = inside_;
    place(exact, prices, exact.all());
    return true;
  }

  /// The node that a set of parts is; the first of the free ones is the top.
  template <size_t Local>
  int place(const ExactOrder<Local>& exact, const Prices<Local>& prices, unsigned set) {
    if (std::has_single_bit(set)) return frontier_[static_cast<size_t>(std::countr_zero(set))];
    const int node = free_.front();
    free_.erase(free_.begin());
    const auto [l, r] = exact.parts(set);
    const int left = place(exact, prices, l), right = place(exact, prices, r);
    auto& step = tree_.nodes[static_cast<size_t>(node)];
    step = {left, right, {}, prices.step(exact.labels(l), exact.labels(r), exact.labels(set))};
    exact.labels(set).for_each([&](int c) { step.labels = step.labels | of_classes_[static_cast<size_t>(c)].labels; });
    return node;
  }

  struct Class {
    unsigned holders;
    LabelSet<Words> labels;
  };
  Tree<Words>& tree_;
  const std::vector<double>& extents_;
  const Cost& cost_;
  size_t leaves_;
  std::vector<int> inside_, frontier_, free_, class_of_;
  std::vector<Class> of_classes_;
  std::vector<double> extents_of_classes_;
};

}  // namespace tile_tune::plan
