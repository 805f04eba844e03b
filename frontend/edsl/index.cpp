// TensorIndex: exact affine arithmetic on index variables.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"

namespace tile_tune::edsl {

using detail::Affine;

namespace {

/// Arithmetic that reports what leaves 64 bits at the caller's line.
struct Exact {
  const Where& where;

  int64_t product(int64_t a, int64_t b) const {
    int64_t result = 0;
    return checked(result, __builtin_mul_overflow(a, b, &result));
  }
  int64_t sum(int64_t a, int64_t b) const {
    int64_t result = 0;
    return checked(result, __builtin_add_overflow(a, b, &result));
  }
  /// The smallest integer has no negative, so it counts as too large.
  int64_t checked(const int64_t& result, bool overflowed) const {
    if (overflowed || result == std::numeric_limits<int64_t>::min()) overflow();
    return result;
  }
  [[noreturn]] void overflow() const { raise("overflow", "the index expression leaves 64 bits", where); }

  /// factor * a
  Affine scaled(const Affine& a, int64_t factor) const {
    Affine result{{}, product(a.constant, factor), a.denominator, a.bounds};
    for (const auto& [variable, coefficient] : a.terms)
      if (factor != 0) result.terms.emplace_back(variable, product(coefficient, factor));
    return reduced(std::move(result));
  }

  /// a + factor * b
  Affine combined(const Affine& a, const Affine& b, int64_t factor) const {
    const int64_t common = product(a.denominator / std::gcd(a.denominator, b.denominator), b.denominator);
    const int64_t by_a = common / a.denominator, by_b = product(common / b.denominator, factor);
    Affine result{{}, sum(product(a.constant, by_a), product(b.constant, by_b)), common, a.bounds};
    for (const auto& bound : b.bounds)
      if (std::ranges::find(a.bounds, bound) == a.bounds.end()) result.bounds.push_back(bound);
    for (const auto& [variable, coefficient] : a.terms) result.terms.emplace_back(variable, product(coefficient, by_a));
    for (const auto& [variable, coefficient] : b.terms) {
      const int64_t added = product(coefficient, by_b);
      const auto found = std::find_if(result.terms.begin(), result.terms.end(),
                                      [&variable = variable](const auto& term) { return term.first == variable; });
      if (found == result.terms.end()) {
        result.terms.emplace_back(variable, added);
      } else {
        found->second = sum(found->second, added);
      }
    }
    std::erase_if(result.terms, [](const auto& term) { return term.second == 0; });
    return reduced(std::move(result));
  }

  Affine divided(const Affine& a, int64_t divisor) const {
    if (divisor < 0) return divided(scaled(a, -1), product(divisor, -1));
    Affine result = a;
    result.denominator = product(a.denominator, divisor);
    return reduced(std::move(result));
  }

 private:
  Affine reduced(Affine a) const {
    int64_t common = std::gcd(a.denominator, a.constant);
    for (const auto& term : a.terms) common = std::gcd(common, term.second);
    if (common <= 1) return a;
    a.denominator /= common;
    a.constant /= common;
    for (auto& term : a.terms) term.second /= common;
    return a;
  }
};

bool is_number(const Affine& a) { return a.terms.empty(); }

std::shared_ptr<const Affine> variable(const std::string& name) {
  return std::make_shared<const Affine>(Affine{{{std::make_shared<const detail::Variable>(name), 1}}, 0, 1});
}

[[noreturn]] void not_affine(const char* what, const Where& where) {
  raise("not-affine", fmt::format("an index expression may not {}", what), where,
        "index expressions are sums of index variables times numbers");
}

}  // namespace

TensorIndex::TensorIndex() : affine_(variable("")) {}
TensorIndex::TensorIndex(const std::string& name) : affine_(variable(name)) {}
TensorIndex::TensorIndex(const TensorDim& value, const Where& where)
    : TensorIndex(Affine{{}, Exact{where}.product(value.value(where), 1), 1}) {}
TensorIndex::TensorIndex(Affine affine) : affine_(std::make_shared<const Affine>(std::move(affine))) {}

TensorIndex operator+(const IndexArg& a, const IndexArg& b) {
  return TensorIndex(Exact{a.where}.combined(a.index.affine(), b.index.affine(), 1));
}

TensorIndex operator-(const IndexArg& a, const IndexArg& b) {
  return TensorIndex(Exact{a.where}.combined(a.index.affine(), b.index.affine(), -1));
}

TensorIndex operator*(const IndexArg& a, const IndexArg& b) {
  const bool swap = is_number(a.index.affine());
  const Affine& number = (swap ? a : b).index.affine();
  const Affine& other = (swap ? b : a).index.affine();
  if (!is_number(number)) not_affine("multiply two index variables", a.where);
  const Exact exact{a.where};
  return TensorIndex(exact.divided(exact.scaled(other, number.constant), number.denominator));
}

TensorIndex operator/(const IndexArg& a, const IndexArg& b) {
  const Affine& divisor = b.index.affine();
  if (!is_number(divisor)) not_affine("divide by an index variable", b.where);
  if (divisor.constant == 0) raise("division-by-zero", "an index expression is divided by 0", b.where);
  const Exact exact{a.where};
  return TensorIndex(exact.divided(exact.scaled(a.index.affine(), divisor.denominator), divisor.constant));
}

TensorIndex operator%(const IndexArg& a, const IndexArg& b) {
  const Affine& divisor = b.index.affine();
  if (!is_number(divisor)) not_affine("divide by an index variable", b.where);
  if (divisor.denominator != 1 || divisor.constant <= 0)
    raise("bad-divisor", fmt::format("a remainder by {} has no meaning", detail::to_text(divisor)), b.where,
          "'%' takes a positive whole number");
  const Exact exact{a.where};
  const Affine remainder = exact.combined(a.index.affine(), *variable("q"), exact.product(divisor.constant, -1));
  Affine result = remainder;
  result.bounds.push_back(
      std::make_shared<const detail::Bounded>(detail::Bounded{remainder, divisor.constant, a.where}));
  return TensorIndex(std::move(result));
}

TensorIndex operator-(const IndexArg& a) { return TensorIndex(Exact{a.where}.scaled(a.index.affine(), -1)); }

Constraint operator<(const IndexArg& index, const DimArg& bound) {
  return Constraint(index.index, bound.value(), bound.where);
}

std::string detail::to_text(const Affine& affine) {
  std::string text;
  int unnamed = 0;
  for (const auto& [variable, coefficient] : affine.terms) {
    const std::string name = variable->name.empty() ? fmt::format("_{}", ++unnamed) : variable->name;
    const char* sign = coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    const auto magnitude =
        coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    text += magnitude == 1 ? fmt::format("{}{}", sign, name) : fmt::format("{}{}*{}", sign, magnitude, name);
  }
  if (text.empty()) {
    text = fmt::format("{}", affine.constant);
  } else if (affine.constant != 0) {
    text += affine.constant < 0 ? fmt::format(" - {}", 0 - static_cast<uint64_t>(affine.constant))
                                : fmt::format(" + {}", affine.constant);
  }
  if (affine.denominator == 1) return text;
  const bool is_single = affine.terms.size() + (affine.constant != 0) <= 1;
  return is_single ? fmt::format("{}/{}", text, affine.denominator) : fmt::format("({})/{}", text, affine.denominator);
}

std::ostream& operator<<(std::ostream& stream, const TensorIndex& index) {
  return stream << detail::to_text(index.affine());
}

std::ostream& operator<<(std::ostream& stream, const Constraint& constraint) {
  return stream << detail::to_text(constraint.index().affine()) << " < " << constraint.bound();
}

}  // namespace tile_tune::edsl
