#include "frontend/plan/factoring.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "frontend/plan/factors.h"

namespace tile_tune::plan {
namespace {

constexpr size_t kLeastTensors = 3;
/// As many as a tensor has.
constexpr size_t kMaxDimensions = 32;
/// Elements that steps may leave where no operand and no result has as many.
constexpr double kMaxElements = 1 << 24;

bool reads_by_index(const Factor& factor) {
  bool reads = false;
  ir::for_each_read(*factor.value, [&](const ir::Read&) { reads = true; });
  return reads && !factor.dimensions.empty();
}

/// Plans one statement.
class Planner {
 public:
  Planner(const ir::Statement& statement, Factors factors, const TrafficCost& cost)
      : factors_(std::move(factors)), cost_(cost) {
    network_.step_type = statement.accumulator;
    network_.axes = statement.indices.size();
    network_.extents.emplace();
    for (const auto& index : statement.indices)
      network_.extents->push_back(static_cast<double>(ir::range(index).extent()));
    for (const auto& factor : factors_.factors) {
      network_.operands.push_back(factor.dimensions);
      network_.types.push_back(factor.stored);
    }
    for (const auto& subscript : statement.subscripts)
      for (const auto& [index, coefficient] : subscript.terms)
        if (std::find(network_.result.begin(), network_.result.end(), index) == network_.result.end())
          network_.result.push_back(index);
    network_.held = factors_.held;
    for (size_t i = 0; i < factors_.factors.size(); ++i) {
      if (factors_.factors[i].is_scalar()) scalars_.push_back(static_cast<int>(i));
      if (!factors_.factors[i].is_plain) rest_.push_back(static_cast<int>(i));
    }
  }

  /// Empty: as it stands.
  std::vector<Product> best() {
    best_cost_ = cost_as_written();
    const size_t units = factors_.order.members.size();
    if (rest_.empty() && units > 1) consider_pairs();
    if (units <= kMaxExhaustive) {
      std::vector<size_t> blocks(units);
      consider_partitions(blocks, 0, 0);
    } else if (!rest_.empty()) {
      consider(std::vector<size_t>(units, 0), 1);
    }
    return std::move(best_);
  }

 private:
  double volume(const AxisSet& axes) const {
    double product = 1;
    for (const int axis : axes) product *= (*network_.extents)[static_cast<size_t>(axis)];
    return product;
  }

  Cost step_cost() const {
    // What is left is written once and read once.
    const double bytes = 2 * static_cast<double>(dtype_size(network_.step_type));
    return [this, bytes](double flops, double elements) { return cost_(flops, bytes * elements); };
  }

  double cost_as_written() const {
    AxisSet all(network_.result.begin(), network_.result.end());
    all.insert(network_.held.begin(), network_.held.end());
    for (const auto& operand : network_.operands) all.insert(operand.begin(), operand.end());
    return cost_(volume(all) * static_cast<double>(network_.operands.size()), 0);
  }

  /// As einsum has it: every step of two.
  void consider_pairs() {
    Contractor contractor(network_, step_cost());
    contractor.contract(contractor.pieces_of(factors_.order), true);
    keep_if_better(contractor.steps());
  }

  /// Every way to put the members of the product into blocks that become one piece each.
  void consider_partitions(std::vector<size_t>& blocks, size_t next, size_t count) {
    if (next == blocks.size()) {
      if (count + (rest_.empty() ? 0 : 1) >= 2) consider(blocks, count);
      return;
    }
    for (size_t block = 0; block <= count; ++block) {
      blocks[next] = block;
      consider_partitions(blocks, next + 1, std::max(count, block + 1));
    }
  }

  void consider(const std::vector<size_t>& blocks, size_t count) {
    Contractor contractor(network_, step_cost());
    const auto members = contractor.pieces_of(factors_.order);
    std::vector<Piece> pieces;
    for (size_t block = 0; block < count; ++block) {
      std::vector<Piece> parts;
      for (size_t i = 0; i < blocks.size(); ++i)
        if (blocks[i] == block) parts.push_back(members[i]);
      pieces.push_back(parts.size() == 1 ? parts.front() : contractor.contract(std::move(parts), false));
    }
    for (auto& piece : pieces) piece = contractor.without_own_sums(piece);
    contractor.finish(pieces);
    keep_if_better(contractor.steps());
  }

  void keep_if_better(std::vector<Product> steps) {
    if (steps.size() < 2) return;
    steps.back().pieces.insert(steps.back().pieces.end(), rest_.begin(), rest_.end());
    std::vector<double> flops;  // without those of scalars
    std::vector<double> volumes;
    std::vector<AxisSet> axes;
    for (const auto& operand : network_.operands) axes.emplace_back(operand.begin(), operand.end());
    for (const auto& step : steps) {
      const bool last = &step == &steps.back();
      AxisSet inside;
      for (const int piece : step.pieces) inside.insert(axes[piece].begin(), axes[piece].end());
      if (last) inside.insert(network_.held.begin(), network_.held.end());
      axes.emplace_back(step.dimensions.begin(), step.dimensions.end());
      volumes.push_back(volume(inside));
      const double sums = last || axes.back() != inside ? 1 : 0;
      flops.push_back(volumes.back() * (static_cast<double>(step.pieces.size()) - 1 + sums));
      if (!last && !may_be_left(axes.back())) return;
    }
    // Numbers without an index are multiplied where that is done least often.
    const auto least = std::min_element(volumes.begin(), volumes.end()) - volumes.begin();
    auto& pieces = steps[static_cast<size_t>(least)].pieces;
    pieces.insert(pieces.end(), scalars_.begin(), scalars_.end());
    flops[static_cast<size_t>(least)] += volumes[static_cast<size_t>(least)] * static_cast<double>(scalars_.size());
    double cost = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      const auto& left = steps[i].dimensions;
      cost += step_cost()(flops[i], i + 1 == steps.size() ? 0 : volume({left.begin(), left.end()}));
    }
    if (!(cost < best_cost_)) return;
    best_cost_ = cost;
    best_ = std::move(steps);
    best_.back().dimensions.clear();
  }

  bool may_be_left(const AxisSet& axes) const {
    double largest = volume({network_.result.begin(), network_.result.end()});
    for (const auto& operand : network_.operands) largest = std::max(largest, volume({operand.begin(), operand.end()}));
    return axes.size() <= kMaxDimensions && volume(axes) <= std::max(largest, kMaxElements);
  }

  Factors factors_;
  const TrafficCost& cost_;
  Network network_;
  std::vector<int> scalars_, rest_;  // numbers of factors
  double best_cost_ = std::numeric_limits<double>::infinity();
  std::vector<Product> best_;
};

bool visits_nothing(const ir::Statement& statement) {
  return std::any_of(statement.indices.begin(), statement.indices.end(),
                     [](const auto& index) { return ir::range(index).extent() == 0; });
}

}  // namespace

Path best_path(const ir::Program& program, const TrafficCost& cost) {
  Path path;
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    if (visits_nothing(statement)) continue;
    auto factors = factors_of(program, statement);
    if (!factors || factors->order.members.empty()) continue;
    const auto tensors = std::count_if(factors->factors.begin(), factors->factors.end(), reads_by_index);
    if (static_cast<size_t>(tensors) < kLeastTensors) continue;
    auto steps = Planner(statement, std::move(*factors), cost).best();
    if (!steps.empty()) path.push_back({static_cast<int>(s), std::move(steps)});
  }
  return path;
}

}  // namespace tile_tune::plan
