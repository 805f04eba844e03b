#include "frontend/tc/ranges.h"

#include <fmt/format.h>
#include <algorithm>

namespace tile_tune::tc {
namespace {

using ir::SizeExpr;

// numerator / divisor, rounded up for a lower limit (inclusive) and down for an upper one (inclusive).
struct Limit {
  SizeExpr numerator;
  int64_t divisor;
  const SubscriptBound* origin;
};

// More different limits than this on one variable are no program anyone reads; comparing them all is quadratic.
constexpr size_t kMaxLimits = 32;

// Drops a limit that another one with the same divisor implies: floor((I - 2)/2) makes floor((I - 1)/2) needless.
// Returns the limits that remain, each once, and stops soon after kMaxLimits.
std::vector<Limit> strictest(const std::vector<Limit>& limits, bool upper) {
  std::vector<Limit> result;
  for (const auto& limit : limits) {
    bool needed = true;
    for (auto& kept : result) {
      if (kept.divisor != limit.divisor) continue;
      const auto difference = (limit.numerator - kept.numerator).constant();
      if (!difference) continue;
      needed = false;
      if (upper ? *difference < 0 : *difference > 0) kept = limit;
      break;
    }
    if (needed) result.push_back(limit);
    if (result.size() > kMaxLimits) break;
  }
  return result;
}

void add_reasons(std::vector<std::string>& reasons, const std::vector<Limit>& limits) {
  for (const auto& limit : limits)
    if (std::find(reasons.begin(), reasons.end(), limit.origin->reason) == reasons.end())
      reasons.push_back(limit.origin->reason);
}

// The interval of `variable` for which every one of `bounds` holds for all values of the other variables;
// nullopt for more than kMaxLimits different ends.
std::optional<ir::Index> solve(int variable, const std::vector<Variable>& variables,
                               const std::vector<const SubscriptBound*>& bounds) {
  std::vector<Limit> lower, upper;
  for (const auto* bound : bounds) {
    ir::AffineExpr rest = bound->expr;
    std::erase_if(rest.terms, [&](const auto& term) { return term.first == variable; });
    const auto [rest_min, rest_max] = value_range(rest, variables);
    // low <= c * variable <= high
    const SizeExpr low = -rest_min, high = bound->extent * bound->divisor - 1 - rest_max;
    const int64_t c = bound->expr.coefficient(variable);
    lower.push_back(c > 0 ? Limit{low, c, bound} : Limit{-high, -c, bound});
    upper.push_back(c > 0 ? Limit{high, c, bound} : Limit{-low, -c, bound});
  }
  lower = strictest(lower, false);
  upper = strictest(upper, true);
  if (lower.size() > kMaxLimits || upper.size() > kMaxLimits) return std::nullopt;

  ir::Index result = variables[variable].index;
  for (size_t i = 0; i < lower.size(); ++i) {
    const auto lo = SizeExpr::ceil_div(lower[i].numerator, lower[i].divisor);
    result.lo = i == 0 ? lo : SizeExpr::max(result.lo, lo);
  }
  for (size_t i = 0; i < upper.size(); ++i) {
    const auto hi = SizeExpr::floor_div(upper[i].numerator + upper[i].divisor, upper[i].divisor);
    result.hi = i == 0 ? hi : SizeExpr::min(result.hi, hi);
  }
  std::vector<std::string> reasons;
  add_reasons(reasons, upper);
  // A lower end of 0 is what everyone expects; another one needs its own reason.
  if (result.lo.constant() != 0) add_reasons(reasons, lower);
  result.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return result;
}

int unsolved_of(const SubscriptBound& bound, const std::vector<Variable>& variables) {
  return static_cast<int>(std::count_if(bound.expr.terms.begin(), bound.expr.terms.end(),
                                        [&](const auto& term) { return !variables[term.first].solved; }));
}

}  // namespace

Interval value_range(const ir::AffineExpr& expr, const std::vector<Variable>& variables) {
  Interval result{expr.constant, expr.constant};
  for (const auto& [number, coefficient] : expr.terms) {
    const auto& index = variables[number].index;
    const auto at_lo = index.lo * coefficient, at_hi = (index.hi - 1) * coefficient;
    result.min = result.min + (coefficient > 0 ? at_lo : at_hi);
    result.max = result.max + (coefficient > 0 ? at_hi : at_lo);
  }
  return result;
}

std::optional<int> infer_ranges(std::vector<Variable>& variables, const std::vector<SubscriptBound>& bounds) {
  std::vector<int> unsolved(bounds.size());
  std::vector<std::vector<size_t>> mentions(variables.size());
  std::vector<size_t> ready;  // bounds with one unsolved variable
  for (size_t b = 0; b < bounds.size(); ++b) {
    for (const auto& [number, coefficient] : bounds[b].expr.terms) mentions[number].push_back(b);
    unsolved[b] = unsolved_of(bounds[b], variables);
    if (unsolved[b] == 1) ready.push_back(b);
  }
  while (!ready.empty()) {
    std::vector<std::vector<const SubscriptBound*>> usable(variables.size());
    std::vector<int> round;
    for (const size_t b : ready) {
      for (const auto& [number, coefficient] : bounds[b].expr.terms) {
        if (variables[number].solved) continue;
        if (usable[number].empty()) round.push_back(number);
        usable[number].push_back(&bounds[b]);
      }
    }
    // All of a round see only earlier rounds.
    std::vector<ir::Index> solutions;
    for (const int number : round) {
      auto solution = solve(number, variables, usable[number]);
      if (!solution) return number;
      solutions.push_back(std::move(*solution));
    }
    ready.clear();
    for (size_t i = 0; i < round.size(); ++i) {
      variables[round[i]] = {std::move(solutions[i]), true};
      for (const size_t b : mentions[round[i]])
        if (--unsolved[b] == 1) ready.push_back(b);
    }
    // A bound that lost several variables in this round may have passed 1 on its way to 0.
    std::erase_if(ready, [&](size_t b) { return unsolved[b] != 1; });
  }
  return std::nullopt;
}

std::optional<ir::Index> range_from_bounds(int variable, const std::vector<Variable>& variables,
                                           const std::vector<SubscriptBound>& bounds) {
  std::vector<const SubscriptBound*> usable;
  for (const auto& bound : bounds)
    if (bound.expr.coefficient(variable) != 0) usable.push_back(&bound);
  if (usable.empty()) return std::nullopt;
  return solve(variable, variables, usable);
}

}  // namespace tile_tune::tc
