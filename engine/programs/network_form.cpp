#include "engine/programs/network_form.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/programs/contraction_order.h"

namespace tile_tune::engine {

namespace {

/// The index that a subscript is, without a shift; -1 of any other.
int plain_index(const ir::AffineExpr& subscript) {
  const bool is_plain = subscript.terms.size() == 1 && subscript.terms[0].second == 1 && subscript.denominator == 1 &&
                        subscript.constant.constant() == 0;
  return is_plain ? subscript.terms[0].first : -1;
}
int plain_index(const ir::Subscript& subscript) {
  const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
  return affine ? plain_index(*affine) : -1;
}

template <typename Subscript>
std::optional<std::vector<int>> plain_indices(const std::vector<Subscript>& subscripts) {
  std::vector<int> indices;
  for (const auto& subscript : subscripts) {
    indices.push_back(plain_index(subscript));
    if (indices.back() < 0) return std::nullopt;
  }
  return indices;
}

bool has_repeats(const std::vector<int>& indices) {
  return std::set<int>(indices.begin(), indices.end()).size() < indices.size();
}

bool add_factor(const ir::Program& program, const ir::Statement& statement, const ir::ExprPtr& value,
                std::vector<WholeRead>& factors) {
  if (const auto* cast = std::get_if<ir::Cast>(&value->node))
    return add_factor(program, statement, cast->argument, factors);
  const auto* read = std::get_if<ir::Read>(&value->node);
  if (!read) return false;
  auto indices = plain_indices(read->subscripts);
  if (!indices || has_repeats(*indices)) return false;
  const auto shape = ir::shape(program.tensors[static_cast<size_t>(read->tensor)]);
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto range = ir::range(statement.indices[static_cast<size_t>((*indices)[d])]);
    if (range.lo != 0 || range.hi != shape[d]) return false;
  }
  factors.push_back({read->tensor, std::move(*indices)});
  return true;
}

/// The axes of every tensor, told from the result backwards: whatever reads a tensor says which its dimensions are.
class Axes {
 public:
  /// False where a tensor would have two meanings.
  bool add(const ir::Statement& statement, const Product& product) {
    std::map<int, int> axis_of;  // by index
    auto& target = axes_[statement.target];
    if (target.empty())
      for (const int index : product.result) target.push_back(new_axis(statement, index));
    for (size_t d = 0; d < target.size(); ++d) axis_of[product.result[d]] = target[d];
    for (const auto& factor : product.factors) {
      if (!axes_.emplace(factor.tensor, std::vector<int>()).second) return false;
      for (const int index : factor.indices) {
        if (!axis_of.contains(index)) axis_of[index] = new_axis(statement, index);
        axes_[factor.tensor].push_back(axis_of[index]);
      }
      read_.insert(factor.tensor);
    }
    return true;
  }

  const std::vector<int>& of(int tensor) const { return axes_.at(tensor); }
  bool has(int tensor) const { return read_.contains(tensor); }
  const std::vector<double>& extents() const { return extents_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  int new_axis(const ir::Statement& statement, int index) {
    const auto& one = statement.indices[static_cast<size_t>(index)];
    names_.push_back(one.name);
    extents_.push_back(static_cast<double>(ir::range(one).extent()));
    return static_cast<int>(extents_.size() - 1);
  }

  std::map<int, std::vector<int>> axes_;  // by tensor
  std::set<int> read_;
  std::vector<double> extents_;
  std::vector<std::string> names_;
};

std::vector<int64_t> labels_of(const std::vector<int>& axes) { return {axes.begin(), axes.end()}; }

/// The indices' own names, where they are the letters that einsums write.
void name_labels(einsum::Einsum& notation, const std::vector<std::string>& names) {
  const std::set<std::string> distinct(names.begin(), names.end());
  const auto is_letter = [](const std::string& name) { return name.size() == 1; };
  if (distinct.size() < names.size() || !std::all_of(names.begin(), names.end(), is_letter)) return;
  for (auto& label : notation.labels) label = names[static_cast<size_t>(std::stoi(label))];
}

std::set<std::set<int>> steps_of(const plan::Order& order, size_t operands) {
  std::vector<std::set<int>> pieces;
  for (size_t i = 0; i < operands; ++i) pieces.push_back({static_cast<int>(i)});
  for (const auto& [left, right] : order) {
    pieces.push_back(pieces[static_cast<size_t>(left)]);
    pieces.back().insert(pieces[static_cast<size_t>(right)].begin(), pieces[static_cast<size_t>(right)].end());
  }
  return {pieces.begin(), pieces.end()};
}

}  // namespace

std::optional<Product> product_of(const ir::Program& program, const ir::Statement& statement) {
  const bool sums = statement.op == ir::Aggregation::Sum, assigns = statement.op == ir::Aggregation::Assign;
  if ((!sums && !assigns) || !statement.constraints.empty() || statement.unwritten) return std::nullopt;
  auto result = plain_indices(statement.subscripts);
  if (!result || has_repeats(*result)) return std::nullopt;
  Product product{std::move(*result), {}};
  const ir::Call* call = std::get_if<ir::Call>(&statement.value->node);
  if (call && call->op != ir::Op::Mul && call->op != ir::Op::And) return std::nullopt;
  const auto values = call ? call->arguments : std::vector{statement.value};
  for (const auto& value : values)
    if (!add_factor(program, statement, value, product.factors)) return std::nullopt;
  return product;
}

plan::Order order_of_steps(const ir::Program& program) {
  std::map<int, int> piece_of;  // by tensor
  for (size_t i = 0; i < program.inputs.size(); ++i) piece_of[program.inputs[i]] = static_cast<int>(i);
  plan::Order order;
  for (const auto& statement : program.statements) {
    std::vector<int> pieces;
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { pieces.push_back(piece_of.at(read.tensor)); });
    // What only sums leaves the same piece.
    int left = pieces.front();
    if (pieces.size() == 2) {
      order.emplace_back(pieces[0], pieces[1]);
      left = static_cast<int>(program.inputs.size() + order.size() - 1);
    }
    piece_of[statement.target] = left;
  }
  return order;
}

std::optional<Network> network_of(const ir::Program& program) {
  if (program.outputs.size() != 1 || program.statements.empty() ||
      program.statements.back().target != program.outputs.front())
    return std::nullopt;
  std::vector<Product> products;
  for (const auto& statement : program.statements) {
    auto product = product_of(program, statement);
    const bool is_last = &statement == &program.statements.back();
    if (!product || (statement.previous && !is_last)) return std::nullopt;
    for (const auto& factor : product->factors)
      if (program.tensors[static_cast<size_t>(factor.tensor)].role == ir::Role::InOut) return std::nullopt;
    products.push_back(std::move(*product));
  }
  Axes axes;
  for (size_t s = products.size(); s-- > 0;)
    if (!axes.add(program.statements[s], products[s])) return std::nullopt;
  Network network;
  std::vector<std::vector<int64_t>> labels;
  for (const int input : program.inputs) {
    if (!axes.has(input)) return std::nullopt;
    const auto& own = axes.of(input);
    labels.push_back(labels_of(own));
    network.operands.emplace_back(own.begin(), own.end());
    const auto& tensor = program.tensors[static_cast<size_t>(input)];
    network.known.operands.push_back({tensor.type, ir::shape(tensor)});
  }
  const auto& output = program.tensors[static_cast<size_t>(program.outputs.front())];
  const auto& result = axes.of(program.outputs.front());
  network.result = {result.begin(), result.end()};
  network.known.result = output.type;
  network.known.adds = program.statements.back().previous.has_value();
  network.extents = axes.extents();
  network.order = order_of_steps(program);
  if (network.order.size() + 1 != program.inputs.size()) return std::nullopt;
  auto notation = einsum::parse(labels, labels_of(result));
  if (!notation) return std::nullopt;
  name_labels(*notation, axes.names());
  network.notation = std::move(*notation);
  return network;
}

Result<ir::Program> in_order(const ir::Program& program, const Network& network, const plan::Order& order) {
  auto notation = network.notation;
  notation.order = group_of(order, network.operands.size());
  TILE_TUNE_TRY(made, einsum::make_program(notation, network.known));
  TILE_TUNE_TRY(ordered, ir::bind(made.program, made.sizes));
  ordered.name = program.name;
  ordered.cold = program.cold;
  ordered.free_order = program.free_order;
  const auto take = [&](int number, int from) {
    auto& tensor = ordered.tensors[static_cast<size_t>(number)];
    const auto& other = program.tensors[static_cast<size_t>(from)];
    tensor.name = other.name;
    tensor.storage = other.storage;
    tensor.constant = other.constant;
  };
  const auto initial = ordered.initial_value_of(ordered.outputs.front());
  for (size_t i = 0; i < program.inputs.size(); ++i) take(ordered.inputs[i], program.inputs[i]);
  take(ordered.outputs.front(), program.outputs.front());
  if (initial) take(*initial, *program.initial_value_of(program.outputs.front()));
  return ordered;
}

bool is_same_order(const plan::Order& a, const plan::Order& b, size_t operands) {
  return steps_of(a, operands) == steps_of(b, operands);
}

}  // namespace tile_tune::engine
