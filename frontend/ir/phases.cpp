#include "frontend/ir/phases.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

struct Split {
  int index = -1;  // k
  int64_t radix = 0;
};

bool uses(const AffineExpr& expr, int index) { return expr.coefficient(index) != 0; }

/// The one index with coefficient 1 and the common divisor of the other coefficients, if taking them apart leaves less
/// to reduce.
std::optional<Split> split_of(const Statement& statement, size_t d) {
  const AffineExpr& subscript = statement.subscripts[d];
  if (subscript.denominator != 1) return std::nullopt;
  Split split;
  int64_t longest = 0;
  for (const auto& [index, coefficient] : subscript.terms) {
    if (coefficient == 1 && split.index < 0) {
      split.index = index;
      continue;
    }
    split.radix = std::gcd(split.radix, coefficient);
    longest = std::max(longest, range(statement.indices[index]).extent());
  }
  if (split.index < 0 || split.radix < 2) return std::nullopt;
  for (size_t other = 0; other < statement.subscripts.size(); ++other)
    if (other != d && uses(statement.subscripts[other], split.index)) return std::nullopt;
  const int64_t extent = range(statement.indices[split.index]).extent();
  const int64_t left = (extent + split.radix - 1) / split.radix;
  if (left > 1 && longest <= left) return std::nullopt;
  return split;
}

std::string fresh_name(const Statement& statement, std::string name) {
  const auto taken = [&] {
    return std::any_of(statement.indices.begin(), statement.indices.end(),
                       [&](const Index& index) { return index.name == name; });
  };
  while (taken()) name += "_";
  return name;
}

/// k = first + radix * s + p: index k becomes s, and p is a new one.
int take_apart(Statement& statement, const Split& split) {
  Index& whole = statement.indices[split.index];
  const Range values = range(whole);
  const int phase = static_cast<int>(statement.indices.size());
  const int64_t left = (values.extent() + split.radix - 1) / split.radix;
  statement.indices.push_back({fresh_name(statement, whole.name + "_phase"), 0, split.radix, whole.reason});
  statement.indices[split.index].lo = 0;
  statement.indices[split.index].hi = left;
  const auto replace = [&](AffineExpr& expr) {
    const int64_t coefficient = expr.coefficient(split.index);
    if (coefficient == 0) return;
    for (auto& term : expr.terms)
      if (term.first == split.index) term.second *= split.radix;
    expr.terms.emplace_back(phase, coefficient);
    expr.constant = expr.constant + coefficient * values.lo;
  };
  const auto node = [&](Expr& expr) {
    const auto* value = std::get_if<IndexValue>(&expr.node);
    if (!value || value->index != split.index) return;
    const auto literal = [](int64_t number) { return make_expr(DType::I64, Literal{number}); };
    const auto call = [](Op op, ExprPtr a, ExprPtr b) {
      return make_expr(DType::I64, Call{op, {std::move(a), std::move(b)}});
    };
    const auto multiple = call(Op::Mul, make_expr(DType::I64, IndexValue{split.index}), literal(split.radix));
    const auto sum = call(Op::Add, multiple, make_expr(DType::I64, IndexValue{phase}));
    expr = Expr{expr.type, Cast{call(Op::Add, sum, literal(values.lo))}};
  };
  rewrite(statement, {replace, node});
  if (values.extent() % split.radix != 0) {
    AffineExpr position{{{split.index, split.radix}, {phase, 1}}, 0, 1};
    std::sort(position.terms.begin(), position.terms.end());
    statement.constraints.push_back({position, values.extent()});
  }
  return phase;
}

}  // namespace

std::optional<Phases> split_phases(const Statement& statement) {
  Phases phases{statement, {}, {}, {}};
  Statement& result = phases.statement;
  std::vector<AffineExpr> subscripts;
  bool any = false;
  for (size_t d = 0; d < statement.subscripts.size(); ++d) {
    const auto split = split_of(result, d);
    int phase = split ? split->index : -1;
    // Within the radix, k is its own phase.
    if (split && range(result.indices[split->index]).extent() > split->radix) phase = take_apart(result, *split);
    phases.place.push_back(subscripts.size());
    phases.radix.push_back(split ? split->radix : 1);
    AffineExpr subscript = result.subscripts[d];
    phases.constant.push_back(split ? subscript.constant : 0);
    if (!split) {
      subscripts.push_back(std::move(subscript));
      continue;
    }
    any = true;
    std::erase_if(subscript.terms, [&](const auto& term) { return term.first == phase; });
    for (auto& term : subscript.terms) term.second /= split->radix;
    subscript.constant = 0;
    subscripts.push_back(std::move(subscript));
    subscripts.push_back(AffineExpr::index(phase));
  }
  if (!any) return std::nullopt;
  result.subscripts = std::move(subscripts);
  return phases;
}

std::optional<Statement> join_phases(Statement statement, const Phases& phases) {
  // An index of its own: no other subscript has it.
  const auto own = [&](size_t place) {
    const AffineExpr& expr = statement.subscripts[place];
    return expr.terms.size() == 1 && expr.terms[0].second == 1 &&
           std::count_if(statement.subscripts.begin(), statement.subscripts.end(),
                         [&](const AffineExpr& other) { return uses(other, expr.terms[0].first); }) == 1;
  };
  std::vector<AffineExpr> subscripts;
  for (size_t d = 0; d < phases.radix.size(); ++d) {
    const size_t place = phases.place[d];
    if (phases.radix[d] == 1) {
      subscripts.push_back(statement.subscripts[place]);
      continue;
    }
    if (!own(place) || !own(place + 1)) return std::nullopt;
    const AffineExpr& quotient = statement.subscripts[place];
    AffineExpr sum = statement.subscripts[place + 1];
    sum.terms.emplace_back(quotient.terms[0].first, phases.radix[d]);
    std::sort(sum.terms.begin(), sum.terms.end());
    sum.constant = sum.constant + quotient.constant * phases.radix[d] + phases.constant[d];
    subscripts.push_back(std::move(sum));
  }
  statement.subscripts = std::move(subscripts);
  return statement;
}

}  // namespace tile_tune::ir
