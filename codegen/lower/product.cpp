#include "codegen/lower/product.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tile_tune::codegen {
namespace {

// Factors in order of appearance.
void flatten(const ir::Expr& expr, std::vector<const ir::Expr*>& factors) {
  const auto* call = std::get_if<ir::Call>(&expr.node);
  if (!call || call->op != ir::Op::Mul) {
    factors.push_back(&expr);
    return;
  }
  for (const auto& argument : call->arguments) flatten(*argument, factors);
}

std::vector<bool> either(std::vector<bool> a, const std::vector<bool>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

// How many different values there are of what varies with these indices, in vectors along the contiguous loop: of 16
// lanes, the widest, on every machine.
double count_values(const Loops& loops, int contiguous, const std::vector<bool>& varies) {
  constexpr double kLanes = 16;
  double count = 1;
  for (int p = 0; p < static_cast<int>(loops.output.size()); ++p)
    if (varies[static_cast<size_t>(loops.output_index[p])])
      count *= static_cast<double>(loops.output[p]) / (p == contiguous ? kLanes : 1);
  for (size_t r = 0; r < loops.reduction.size(); ++r)
    if (varies[static_cast<size_t>(loops.reduction_index[r])]) count *= static_cast<double>(loops.reduction[r]);
  return count;
}

}  // namespace

std::optional<Product> Product::of(const ir::Expr& term, size_t indices, const Loops& loops, int contiguous,
                                   Branches branches) {
  std::vector<const ir::Expr*> factors;
  flatten(term, factors);
  if (factors.size() < 3 || !is_float(term.type) || is_complex(term.type)) return std::nullopt;
  Product product;
  product.branches_ = std::move(branches);
  auto& nodes = product.nodes_;
  std::vector<int> roots;
  int operands = 0;
  for (const auto* factor : factors) {
    Node leaf{factor, operands};
    leaf.varies.resize(indices);
    for (const int index : ir::indices_of(*factor)) leaf.varies[static_cast<size_t>(index)] = true;
    ir::for_each_read(*factor, [&](const ir::Read&) { ++operands; });
    roots.push_back(static_cast<int>(nodes.size()));
    nodes.push_back(std::move(leaf));
  }
  while (roots.size() > 1) {
    size_t first = 0, second = 1;
    double fewest = std::numeric_limits<double>::infinity();
    for (size_t a = 0; a < roots.size(); ++a)
      for (size_t b = a + 1; b < roots.size(); ++b)
        if (const double count =
                count_values(loops, contiguous, either(nodes[roots[a]].varies, nodes[roots[b]].varies));
            count < fewest)
          std::tie(fewest, first, second) = std::tuple(count, a, b);
    const int left = roots[first], right = roots[second], both = static_cast<int>(nodes.size());
    nodes.push_back({nullptr, 0, left, right, -1, either(nodes[left].varies, nodes[right].varies)});
    nodes[left].parent = nodes[right].parent = roots[first] = both;
    roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return product;
}

Values Product::value(const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand,
                      const Held& held) const {
  return value(static_cast<int>(nodes_.size()) - 1, indices, read_operand, held);
}

Values Product::value(int node, const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand,
                      const Held& held) const {
  if (const auto known = held(node)) return *known;
  const Node& here = nodes_[node];
  if (here.factor) {
    const auto read_factor = [&](int number, const ir::Read& read, const auto& subscripts) {
      return read_operand(here.operands + number, read, subscripts);
    };
    return to_halide(*here.factor, indices, read_factor, branches_);
  }
  return {value(here.left, indices, read_operand, held)[0] * value(here.right, indices, read_operand, held)[0]};
}

bool Product::all_operands(int node, const std::function<bool(int number)>& holds) const {
  const Node& here = nodes_[node];
  if (!here.factor) return all_operands(here.left, holds) && all_operands(here.right, holds);
  bool all = true;
  int number = here.operands;
  ir::for_each_read(*here.factor, [&](const ir::Read&) { all = holds(number++) && all; });
  return all;
}

int Product::held_by_copy(int operand, const std::function<bool(int number)>& may_read) const {
  const auto leaf = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return node.factor && node.operands == operand && std::holds_alternative<ir::Read>(node.factor->node);
  });
  if (leaf == nodes_.end()) return -1;
  const int first = static_cast<int>(leaf - nodes_.begin());
  int node = first;
  for (int parent = leaf->parent; nodes_[parent].parent >= 0; parent = nodes_[node].parent) {
    const int other = nodes_[parent].left == node ? nodes_[parent].right : nodes_[parent].left;
    if (nodes_[parent].varies != leaf->varies || !all_operands(other, may_read)) break;
    node = parent;
  }
  return node == first ? -1 : node;
}

}  // namespace tile_tune::codegen
