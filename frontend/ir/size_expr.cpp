#include "frontend/ir/size_expr.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

namespace tile_tune::ir {
namespace {

// Quotient and remainder of a floor division by a positive number; neither can overflow.
struct FloorDivision {
  int64_t quotient, remainder;
};
FloorDivision floor_divide(int64_t a, int64_t b) {
  const int64_t q = a / b, r = a % b;
  return r < 0 ? FloorDivision{q - 1, r + b} : FloorDivision{q, r};
}

// Text as an operand of * or /: parentheses around all but names and non-negative numbers.
std::string factor_text(const SizeExpr& expr) {
  const auto& terms = expr.terms();
  const bool is_name = terms.size() == 1 && expr.offset() == 0 && terms[0].coefficient == 1 &&
                       terms[0].atom->kind == SizeExpr::Atom::Kind::Name;
  const bool is_plain = is_name || expr.constant().value_or(-1) >= 0;
  return is_plain ? expr.str() : fmt::format("({})", expr.str());
}

}  // namespace

std::string SizeExpr::Atom::str() const {
  switch (kind) {
    case Kind::Name:
      return name;
    case Kind::FloorDiv:
      return fmt::format("floor({}/{})", factor_text(operands[0]), factor_text(operands[1]));
    case Kind::Min:
      return fmt::format("min({}, {})", operands[0].str(), operands[1].str());
    case Kind::Max:
      return fmt::format("max({}, {})", operands[0].str(), operands[1].str());
    case Kind::Product:
      return fmt::format("{}*{}", factor_text(operands[0]), factor_text(operands[1]));
  }
  return {};
}

SizeExpr SizeExpr::from_atom(Atom atom) {
  SizeExpr result;
  // Operands of commutative atoms are kept in the order of their text: min(A, B) is min(B, A).
  const bool commutes = atom.kind != Atom::Kind::Name && atom.kind != Atom::Kind::FloorDiv;
  if (commutes && atom.operands[1].str() < atom.operands[0].str()) std::swap(atom.operands[0], atom.operands[1]);
  result.terms_.push_back({1, std::make_shared<const Atom>(std::move(atom))});
  return result;
}

SizeExpr SizeExpr::overflow() {
  SizeExpr result;
  result.overflowed_ = true;
  return result;
}

SizeExpr SizeExpr::name(std::string name) { return from_atom({Atom::Kind::Name, std::move(name), {}}); }

SizeExpr operator+(const SizeExpr& a, const SizeExpr& b) {
  if (a.overflowed_ || b.overflowed_) return SizeExpr::overflow();
  SizeExpr sum = a;
  if (__builtin_add_overflow(a.constant_, b.constant_, &sum.constant_)) return SizeExpr::overflow();
  for (const auto& term : b.terms_) {
    const auto text = term.atom->str();
    const auto place = std::find_if(sum.terms_.begin(), sum.terms_.end(),
                                    [&](const auto& other) { return other.atom->str() >= text; });
    if (place == sum.terms_.end() || place->atom->str() != text) {
      sum.terms_.insert(place, term);
    } else if (__builtin_add_overflow(place->coefficient, term.coefficient, &place->coefficient)) {
      return SizeExpr::overflow();
    } else if (place->coefficient == 0) {
      sum.terms_.erase(place);
    }
  }
  return sum;
}

SizeExpr SizeExpr::operator-() const { return *this * SizeExpr(-1); }
SizeExpr operator-(const SizeExpr& a, const SizeExpr& b) { return a + -b; }

SizeExpr operator*(const SizeExpr& a, const SizeExpr& b) {
  if (a.overflowed_ || b.overflowed_) return SizeExpr::overflow();
  const auto ca = a.constant(), cb = b.constant();
  if (!ca && !cb) return SizeExpr::from_atom({SizeExpr::Atom::Kind::Product, "", {a, b}});
  const int64_t factor = ca ? *ca : *cb;
  if (factor == 0) return 0;
  SizeExpr result = ca ? b : a;
  bool overflows = __builtin_mul_overflow(result.constant_, factor, &result.constant_);
  for (auto& term : result.terms_) overflows |= __builtin_mul_overflow(term.coefficient, factor, &term.coefficient);
  return overflows ? SizeExpr::overflow() : result;
}

SizeExpr SizeExpr::floor_div(const SizeExpr& a, const SizeExpr& b) {
  if (a.overflowed_ || b.overflowed_) return overflow();
  const int64_t divisor = b.constant().value_or(0);
  if (divisor < 0) return floor_div(-a, -b);
  if (divisor == 0) return from_atom({Atom::Kind::FloorDiv, "", {a, b}});
  // Whole multiples of the divisor leave the floor: floor((2*N + M)/2) = N + floor(M/2).
  SizeExpr whole, rest;
  int64_t common = divisor;
  for (const auto& term : a.terms_) {
    if (term.coefficient % divisor == 0) {
      whole.terms_.push_back({term.coefficient / divisor, term.atom});
    } else {
      rest.terms_.push_back(term);
      common = static_cast<int64_t>(std::gcd(static_cast<uint64_t>(common), magnitude(term.coefficient)));
    }
  }
  const auto [quotient, remainder] = floor_divide(a.constant_, divisor);
  whole.constant_ = quotient;
  if (rest.terms_.empty()) return whole;
  // What the rest has in common with the divisor cancels: floor((2*N + 1)/4) = floor(N/2).
  for (auto& term : rest.terms_) term.coefficient /= common;
  rest.constant_ = remainder / common;
  return whole + from_atom({Atom::Kind::FloorDiv, "", {rest, divisor / common}});
}

SizeExpr SizeExpr::ceil_div(const SizeExpr& a, const SizeExpr& b) { return floor_div(a + b - 1, b); }
SizeExpr SizeExpr::mod(const SizeExpr& a, const SizeExpr& b) { return a - b * floor_div(a, b); }

SizeExpr SizeExpr::min(const SizeExpr& a, const SizeExpr& b) {
  if (a.overflowed_ || b.overflowed_) return overflow();
  if (const auto ca = a.constant(), cb = b.constant(); ca && cb) return std::min(*ca, *cb);
  if (const auto difference = (a - b).constant()) return *difference <= 0 ? a : b;
  return from_atom({Atom::Kind::Min, "", {a, b}});
}

SizeExpr SizeExpr::max(const SizeExpr& a, const SizeExpr& b) {
  if (a.overflowed_ || b.overflowed_) return overflow();
  if (const auto ca = a.constant(), cb = b.constant(); ca && cb) return std::max(*ca, *cb);
  if (const auto difference = (a - b).constant()) return *difference >= 0 ? a : b;
  return from_atom({Atom::Kind::Max, "", {a, b}});
}

std::optional<int64_t> SizeExpr::constant() const {
  if (terms_.empty() && !overflowed_) return constant_;
  return std::nullopt;
}

std::set<std::string> SizeExpr::names() const {
  std::set<std::string> result;
  for (const auto& term : terms_) {
    if (term.atom->kind == Atom::Kind::Name) result.insert(term.atom->name);
    for (const auto& operand : term.atom->operands) result.merge(operand.names());
  }
  return result;
}

Result<SizeExpr> SizeExpr::bind(const Sizes& sizes) const {
  SizeExpr result = overflowed_ ? overflow() : SizeExpr(constant_);
  for (const auto& [coefficient, atom] : terms_) {
    SizeExpr value;
    if (atom->kind == Atom::Kind::Name) {
      const auto found = sizes.find(atom->name);
      value = found == sizes.end() ? name(atom->name) : SizeExpr(found->second);
    } else {
      TILE_TUNE_TRY(a, atom->operands[0].bind(sizes));
      TILE_TUNE_TRY(b, atom->operands[1].bind(sizes));
      switch (atom->kind) {
        case Atom::Kind::FloorDiv:
          if (b.constant() == 0)
            return fail(ErrorClass::Mismatch, "size-division-by-zero",
                        fmt::format("{} divides by zero for these sizes", str()));
          value = floor_div(a, b);
          break;
        case Atom::Kind::Min:
          value = min(a, b);
          break;
        case Atom::Kind::Max:
          value = max(a, b);
          break;
        default:
          value = a * b;
          break;
      }
    }
    result = result + value * coefficient;
  }
  if (result.overflowed())
    return fail(ErrorClass::Mismatch, "size-overflow", fmt::format("{} overflows 64 bits for these sizes", str()));
  return result;
}

std::string SizeExpr::str() const {
  if (overflowed_) return "(a number beyond 64 bits)";
  std::string text;
  // Positive terms first, so that H - KH + 1 does not print as -KH + H + 1; a positive constant leads when no
  // term is positive: 7 - N.
  const bool constant_leads =
      constant_ > 0 && std::all_of(terms_.begin(), terms_.end(), [](const auto& term) { return term.coefficient < 0; });
  if (constant_leads || terms_.empty()) text = std::to_string(constant_);
  for (const bool positive : {true, false}) {
    for (const auto& term : terms_) {
      if ((term.coefficient > 0) != positive) continue;
      text += text.empty() ? (positive ? "" : "-") : (positive ? " + " : " - ");
      if (magnitude(term.coefficient) != 1) text += fmt::format("{}*", magnitude(term.coefficient));
      text += term.atom->str();
    }
  }
  if (constant_ != 0 && !constant_leads && !terms_.empty())
    text += fmt::format(" {} {}", constant_ > 0 ? '+' : '-', magnitude(constant_));
  return text;
}

}  // namespace tile_tune::ir
