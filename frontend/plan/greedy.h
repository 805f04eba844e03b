// Trees by greedy steps: the pair that leaves least is contracted next, more or less.
//
// With a temperature the choice is random, by Boltzmann's weights, which is what adding Gumbel noise to the scores and
// taking the best comes to; many such trees are made and the best is kept (Gray, Kourtis, "Hyper-optimized tensor
// network contraction", Quantum 5, 410, 2021).
#pragma once

#include <algorithm>
#include <queue>
#include <tuple>
#include <vector>

#include "frontend/plan/portable_random.h"
#include "frontend/plan/tree.h"

namespace tile_tune::plan {

struct GreedyWeights {
  double inputs = 1;       // how much what the pair takes away counts against what it leaves
  double temperature = 0;  // of factors of two
};

template <size_t Words>
class Greedy {
 public:
  using Set = LabelSet<Words>;

  Greedy(const Leaves& leaves, const Prices<Words>& prices, const GreedyWeights& weights, Random& random)
      : prices_(prices),
        weights_(weights),
        random_(random),
        holders_(leaves.extents.size()),
        uses_(leaves.extents.size()) {
    tree_.operands = leaves.operands.size();
    for (const int label : leaves.needed) ++uses_[static_cast<size_t>(label)];
    for (const auto& operand : leaves.operands) add(-1, -1, label_set<Words>(operand));
  }

  /// Once.
  Tree<Words> tree() {
    for (int node = 0; node < static_cast<int>(tree_.operands); ++node) offer_neighbours(node, node);
    while (!candidates_.empty()) {
      const auto [score, left, right] = candidates_.top();
      candidates_.pop();
      if (is_taken_[static_cast<size_t>(left)] || is_taken_[static_cast<size_t>(right)]) continue;
      const int node = join(left, right);
      offer_neighbours(node, node);
    }
    join_apart();
    tree_.root = static_cast<int>(tree_.nodes.size()) - 1;
    return std::move(tree_);
  }

  /// How many were weighed.
  double pairs() const { return pairs_; }

 private:
  using Candidate = std::tuple<double, int, int>;

  int add(int left, int right, const Set& labels) {
    const int node = static_cast<int>(tree_.nodes.size());
    tree_.nodes.push_back({left, right, labels, 0});
    volumes_.push_back(volume(labels));
    is_taken_.push_back(false);
    labels.for_each([&](int label) {
      holders_[static_cast<size_t>(label)].push_back(node);
      count(label, 1);
    });
    return node;
  }

  /// Of which differences are numbers.
  double volume(const Set& labels) const { return std::min(prices_.volume(labels), 1e300); }

  void count(int label, int change) {
    const int uses = uses_[static_cast<size_t>(label)] += change;
    const auto set = [&](Set& labels, bool in) {
      const uint64_t bit = uint64_t{1} << (label % 64);
      auto& word = labels.words[static_cast<size_t>(label) / 64];
      word = in ? word | bit : word & ~bit;
    };
    set(more_than_one_, uses > 1);
    set(more_than_two_, uses > 2);
  }

  Set left_by(const Set& a, const Set& b) const {
    return ((a - b) & more_than_one_) | ((b - a) & more_than_one_) | ((a & b) & more_than_two_);
  }

  /// Pairs of the node and those before `end` that share a label with it.
  void offer_neighbours(int node, int end) {
    const Set& mine = tree_.nodes[static_cast<size_t>(node)].labels;
    neighbours_.clear();
    mine.for_each([&](int label) {
      auto& holders = holders_[static_cast<size_t>(label)];
      std::erase_if(holders, [&](int other) { return is_taken_[static_cast<size_t>(other)]; });
      for (const int other : holders)
        if (other < end) neighbours_.push_back(other);
    });
    std::sort(neighbours_.begin(), neighbours_.end());
    neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
    pairs_ += static_cast<double>(neighbours_.size());
    for (const int other : neighbours_) {
      const Set left = left_by(mine, tree_.nodes[static_cast<size_t>(other)].labels);
      const double gain =
          volume(left) - weights_.inputs * (volumes_[static_cast<size_t>(node)] + volumes_[static_cast<size_t>(other)]);
      // Of factors of two, so that one temperature fits steps of every size.
      double score = gain < 0 ? -log2_of(1 - gain) : log2_of(1 + gain);
      if (weights_.temperature > 0) score += weights_.temperature * noise();
      candidates_.emplace(score, other, node);
    }
  }

  /// Of Gumbel's distribution, the smallest best.
  double noise() { return log2_of(std::max(random_.patience(), 1e-9)); }

  int join(int left, int right) {
    for (const int part : {left, right}) is_taken_[static_cast<size_t>(part)] = true;
    const Set result =
        left_by(tree_.nodes[static_cast<size_t>(left)].labels, tree_.nodes[static_cast<size_t>(right)].labels);
    for (const int part : {left, right})
      tree_.nodes[static_cast<size_t>(part)].labels.for_each([&](int label) { count(label, -1); });
    const int node = add(left, right, result);
    auto& step = tree_.nodes.back();
    step.cost = prices_.step(tree_.nodes[static_cast<size_t>(left)].labels,
                             tree_.nodes[static_cast<size_t>(right)].labels, step.labels);
    return node;
  }

  /// What shares no label: the smallest first.
  void join_apart() {
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> parts;
    for (size_t node = 0; node < tree_.nodes.size(); ++node)
      if (!is_taken_[node]) parts.emplace(volumes_[node], static_cast<int>(node));
    while (parts.size() > 1) {
      const int left = parts.top().second;
      parts.pop();
      const int right = parts.top().second;
      parts.pop();
      const int node = join(left, right);
      parts.emplace(volumes_.back(), node);
    }
  }

  const Prices<Words>& prices_;
  GreedyWeights weights_;
  double pairs_ = 0;
  Random& random_;
  Tree<Words> tree_;
  Set more_than_one_, more_than_two_;
  std::vector<std::vector<int>> holders_;  // of each label, those taken among them
  std::vector<int> uses_, neighbours_;
  std::vector<double> volumes_;
  std::vector<bool> is_taken_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

}  // namespace tile_tune::plan
