#include "frontend/plan/factors.h"

#include <algorithm>
#include <utility>

#include "frontend/ir/grouping.h"

namespace tile_tune::plan {
namespace {

bool is_condition(ir::Op op) {
  return op == ir::Op::Select || op == ir::Op::And || op == ir::Op::Or || op == ir::Op::Not || ir::is_comparison(op);
}

bool has_condition(const ir::Expr& expr) {
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return has_condition(*cast->argument);
  const auto* call = std::get_if<ir::Call>(&expr.node);
  return call && (is_condition(call->op) || std::any_of(call->arguments.begin(), call->arguments.end(),
                                                        [](const auto& part) { return has_condition(*part); }));
}

std::optional<int> plain_index(const ir::Subscript& subscript) {
  const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
  if (!affine || affine->terms.size() != 1 || affine->terms[0].second != 1) return std::nullopt;
  if (affine->denominator != 1 || affine->constant != ir::SizeExpr(0)) return std::nullopt;
  return affine->terms[0].first;
}

Factor factor_of(const ir::Program& program, const ir::ExprPtr& value) {
  Factor factor{value, {}, value->type, !has_condition(*value)};
  bool first = true;
  ir::for_each_read(*value, [&](const ir::Read& read) {
    if (std::exchange(first, false)) factor.stored = program.tensors[static_cast<size_t>(read.tensor)].type;
    for (const auto& subscript : read.subscripts) {
      const auto index = plain_index(subscript);
      factor.is_plain = factor.is_plain && index;
      if (index) factor.dimensions.push_back(*index);
    }
  });
  for (const int index : ir::indices_of(*value))
    if (std::find(factor.dimensions.begin(), factor.dimensions.end(), index) == factor.dimensions.end())
      factor.dimensions.push_back(index);
  return factor;
}

class Collector {
 public:
  Collector(const ir::Program& program, DType type) : program_(program), type_(type) {}

  void collect(const ir::ExprPtr& expr, Group& group) {
    if (is_product(expr)) {
      for (const auto& argument : std::get<ir::Call>(expr->node).arguments) collect(argument, group);
    } else if (const auto product = ir::product_of_group(*expr); product && is_product(product)) {
      Group inner;
      const size_t before = factors.size();
      collect(product, inner);
      add_group(std::move(inner), before, group);
    } else {
      factors.push_back(factor_of(program_, expr));
      if (!factors.back().is_plain || factors.back().is_scalar()) return;
      group.members.push_back({static_cast<int>(factors.size()) - 1, {}});
    }
  }

  std::vector<Factor> factors;

 private:
  bool is_product(const ir::ExprPtr& expr) const { return expr->type == type_ && ir::is_product(*expr); }

  /// A group of which a part has to stay stays as a whole.
  void add_group(Group inner, size_t before, Group& group) {
    const auto begin = factors.begin() + static_cast<std::ptrdiff_t>(before);
    if (!std::all_of(begin, factors.end(), [](const Factor& factor) { return factor.is_plain; }))
      std::for_each(begin, factors.end(), [](Factor& factor) { factor.is_plain = false; });
    else if (inner.members.size() == 1)
      group.members.push_back(std::move(inner.members.front()));
    else if (!inner.members.empty())
      group.members.push_back(std::move(inner));
  }

  const ir::Program& program_;
  DType type_;
};

bool may_be_summed_apart(DType product, DType accumulator) {
  const bool is_half = product == DType::F16 || product == DType::BF16;
  return product == accumulator || (is_half && accumulator == DType::F32);
}

}  // namespace

std::optional<Factors> factors_of(const ir::Program& program, const ir::Statement& statement) {
  const DType type = statement.value->type;
  if (statement.op != ir::Aggregation::Sum || !ir::is_product(*statement.value)) return std::nullopt;
  if (!may_be_summed_apart(type, statement.accumulator)) return std::nullopt;
  Collector collector(program, type);
  Factors result;
  collector.collect(statement.value, result.order);
  result.factors = std::move(collector.factors);
  while (result.order.members.size() == 1 && result.order.members.front().operand < 0)
    result.order = Group(result.order.members.front());
  const auto hold = [&](const ir::AffineExpr& expr) {
    for (const auto& [index, coefficient] : expr.terms) result.held.insert(index);
  };
  for (const auto& subscript : statement.subscripts) hold(subscript);
  for (const auto& constraint : statement.constraints) hold(constraint.expr);
  for (const auto& factor : result.factors)
    if (!factor.is_plain) result.held.insert(factor.dimensions.begin(), factor.dimensions.end());
  return result;
}

}  // namespace tile_tune::plan
