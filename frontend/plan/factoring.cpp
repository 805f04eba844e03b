#include "frontend/plan/factoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "frontend/ir/describe.h"
#include "frontend/ir/requirement.h"
#include "frontend/plan/blocks.h"
#include "frontend/plan/factors.h"

namespace tile_tune::plan {
namespace {

constexpr size_t kLeastTensors = 3;
/// Most factors of which every way to put them into blocks is looked at: 203 of six.
constexpr size_t kMaxPartitioned = 6;
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

  double cost() const { return best_cost_; }

  double cost_as_written() const {
    AxisSet all(network_.result.begin(), network_.result.end());
    all.insert(network_.held.begin(), network_.held.end());
    for (const auto& operand : network_.operands) all.insert(operand.begin(), operand.end());
    return cost_(volume(all) * static_cast<double>(network_.operands.size()), 0);
  }

  /// Empty: as it stands.
  std::vector<Product> best() {
    best_cost_ = cost_as_written();
    start_.emplace(network_, step_cost());
    members_ = start_->pieces_of(factors_.order);
    const size_t units = members_.size();
    if (rest_.empty() && units > 1) consider_pairs();
    if (units <= kMaxPartitioned) {
      std::vector<size_t> blocks(units);
      consider_partitions(blocks, 0, 0);
    } else {
      if (!rest_.empty()) consider(std::vector<size_t>(units, 0), 1);
      if (units <= kMaxExact) consider_best_blocks();
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

  /// As einsum has it: every step of two.
  void consider_pairs() {
    Contractor contractor = *start_;
    contractor.contract(members_, true);
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

  /// Of more members than that the blocks that cost least, whatever their steps leave.
  void consider_best_blocks() {
    std::vector<AxisSet> axes;
    for (const auto& piece : members_) axes.push_back(piece.axes());
    AxisSet needed(network_.result.begin(), network_.result.end());
    needed.insert(network_.held.begin(), network_.held.end());
    const auto blocks = best_blocks(axes, needed, *network_.extents, step_cost(), {network_.held, rest_.size()});
    consider(blocks, 1 + *std::max_element(blocks.begin(), blocks.end()));
  }

  void consider(const std::vector<size_t>& blocks, size_t count) {
    Contractor contractor = *start_;
    std::vector<Piece> pieces;
    for (size_t block = 0; block < count; ++block) {
      std::vector<Piece> parts;
      for (size_t i = 0; i < blocks.size(); ++i)
        if (blocks[i] == block) parts.push_back(members_[i]);
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
  std::optional<Contractor> start_;  // what parentheses group is contracted
  std::vector<Piece> members_;       // of the product then
  double best_cost_ = std::numeric_limits<double>::infinity();
  std::vector<Product> best_;
};

bool visits_nothing(const ir::Statement& statement) {
  return std::any_of(statement.indices.begin(), statement.indices.end(),
                     [](const auto& index) { return ir::range(index).extent() == 0; });
}

bool has_tensors_to_order(const Factors& factors) {
  const auto tensors = std::count_if(factors.factors.begin(), factors.factors.end(), reads_by_index);
  return !factors.order.members.empty() && static_cast<size_t>(tensors) >= kLeastTensors;
}

double flops_as_written(const ir::Program& program, const ir::Statement& statement) {
  ir::Program alone = program;
  alone.statements = {statement};
  return ir::flops(alone);
}

/// FLOP of a sum's best steps. What is computed inside its factors counts as often as it does as written.
double least_flops(const ir::Program& program, const ir::Statement& statement, std::optional<Factors> factors) {
  const double written = flops_as_written(program, statement);
  if (!factors || !has_tensors_to_order(*factors)) return written;
  const TrafficCost flops_only = [](double flops, double) { return flops; };
  Planner planner(statement, std::move(*factors), flops_only);
  planner.best();
  return planner.cost() + std::max(0.0, written - planner.cost_as_written());
}

/// The terms of a sum in brackets, without the signs before it and what it is divided by.
void collect_summands(const ir::ExprPtr& expr, std::vector<ir::ExprPtr>& summands) {
  const auto* call = std::get_if<ir::Call>(&expr->node);
  const bool is_sum = call && (call->op == ir::Op::Add || call->op == ir::Op::Sub);
  const bool has_sign = call && (call->op == ir::Op::Neg || call->op == ir::Op::Div);
  if (!is_sum && !has_sign) return summands.push_back(expr);
  collect_summands(call->arguments[0], summands);
  if (is_sum) collect_summands(call->arguments[1], summands);
}

/// With a contraction for each product of a sum of products.
std::optional<double> flops_of_summands(const ir::Program& program, ir::Statement statement) {
  std::vector<ir::ExprPtr> summands;
  collect_summands(statement.value, summands);
  if (summands.size() < 2) return std::nullopt;
  double total = 0;
  for (const auto& summand : summands) {
    statement.value = summand;
    total += least_flops(program, statement, factors_of(program, statement));
  }
  return total;
}

std::string why_not_plain(const ir::Program& program, const ir::Statement& statement, const Factors& factors) {
  if (!factors_of(program, statement))
    return fmt::format("its products are {} and their sum is {}, which wraps elsewhere",
                       dtype_name(statement.value->type), dtype_name(statement.accumulator));
  const auto held = std::find_if(factors.factors.begin(), factors.factors.end(),
                                 [](const Factor& factor) { return !factor.is_plain && !factor.divides; });
  if (held != factors.factors.end())
    return fmt::format("{} has a condition or other subscripts than plain indices",
                       ir::to_text(program, statement, *held->value));
  if (!ir::constraints_on_indices(statement).empty()) return "a condition on its indices leaves out some of its terms";
  return "a quotient of integers is rounded term by term";
}

/// "Twice" leaves out what would hardly be felt.
constexpr double kWorthTelling = 2;

std::optional<Unfactored> unfactored(const ir::Program& program, const ir::Statement& statement, double flops) {
  if (statement.op != ir::Aggregation::Sum || visits_nothing(statement)) return std::nullopt;
  if (const auto possible = flops_of_summands(program, statement))
    return Unfactored{0, flops, *possible, "the term is a sum of products"};
  const double possible = least_flops(program, statement, idealized_factors_of(program, statement));
  const auto factors = factors_of(program, statement);
  if (flops > kWorthTelling * least_flops(program, statement, factors))
    return Unfactored{0, flops, possible, "what its steps leave in memory costs more than their FLOP save"};
  return Unfactored{0, flops, possible, why_not_plain(program, statement, factors.value_or(Factors{}))};
}

}  // namespace

std::vector<Unfactored> unfactored(const ir::Program& program, const Path& path) {
  std::vector<Unfactored> result;
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const int number = static_cast<int>(s);
    ir::Program alone = program;
    alone.statements = {program.statements[s]};
    Path steps;
    for (const auto& one : path)
      if (one.statement == number) steps.push_back({0, one.steps});
    const auto planned = factored(alone, steps);
    if (!planned) continue;
    auto found = unfactored(program, program.statements[s], ir::flops(*planned));
    if (!found || found->flops <= kWorthTelling * found->possible_flops) continue;
    found->statement = number;
    result.push_back(std::move(*found));
  }
  return result;
}

Path best_path(const ir::Program& program, const TrafficCost& cost) {
  Path path;
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    auto factors = factors_of(program, statement);
    if (!factors || visits_nothing(statement) || !has_tensors_to_order(*factors)) continue;
    auto steps = Planner(statement, std::move(*factors), cost).best();
    if (!steps.empty()) path.push_back({static_cast<int>(s), std::move(steps)});
  }
  return path;
}

}  // namespace tile_tune::plan
