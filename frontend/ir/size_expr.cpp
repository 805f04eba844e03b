#include "frontend/ir/size_expr.h"

#include <fmt/format.h>
#include <algorithm>

namespace tile_tune::ir {

// Name: `name`. FloorDiv: operands {numerator, denominator}. Min, Max: two operands. Product: two non-constants.
struct SizeExpr::Atom {
  enum class Kind { Name, FloorDiv, Min, Max, Product } kind;
  std::string name;
  std::vector<SizeExpr> operands;

  std::string str() const {
    switch (kind) {
      case Kind::Name:
        return name;
      case Kind::FloorDiv: {
        const auto denominator = operands[1].str();
        return fmt::format("floor(({})/{})", operands[0].str(),
                           operands[1].constant() ? denominator : "(" + denominator + ")");
      }
      case Kind::Min:
        return fmt::format("min({}, {})", operands[0].str(), operands[1].str());
      case Kind::Max:
        return fmt::format("max({}, {})", operands[0].str(), operands[1].str());
      case Kind::Product:
        return fmt::format("({})*({})", operands[0].str(), operands[1].str());
    }
    return {};
  }
};

namespace {

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace

SizeExpr SizeExpr::from_atom(Atom atom) {
  SizeExpr result;
  result.terms_.push_back({1, std::make_shared<const Atom>(std::move(atom))});
  return result;
}

SizeExpr SizeExpr::name(std::string name) { return from_atom({Atom::Kind::Name, std::move(name), {}}); }

SizeExpr operator+(const SizeExpr& a, const SizeExpr& b) {
  SizeExpr sum = a;
  sum.constant_ += b.constant_;
  for (const auto& term : b.terms_) {
    const auto text = term.atom->str();
    auto same =
        std::find_if(sum.terms_.begin(), sum.terms_.end(), [&](const auto& t) { return t.atom->str() == text; });
    if (same == sum.terms_.end()) {
      sum.terms_.push_back(term);
    } else if ((same->coefficient += term.coefficient) == 0) {
      sum.terms_.erase(same);
    }
  }
  std::sort(sum.terms_.begin(), sum.terms_.end(),
            [](const auto& x, const auto& y) { return x.atom->str() < y.atom->str(); });
  return sum;
}

SizeExpr SizeExpr::operator-() const { return *this * SizeExpr(-1); }
SizeExpr operator-(const SizeExpr& a, const SizeExpr& b) { return a + -b; }

SizeExpr operator*(const SizeExpr& a, const SizeExpr& b) {
  const auto ca = a.constant(), cb = b.constant();
  if (ca || cb) {
    const int64_t factor = ca ? *ca : *cb;
    SizeExpr result = ca ? b : a;
    if (factor == 0) return 0;
    result.constant_ *= factor;
    for (auto& term : result.terms_) term.coefficient *= factor;
    return result;
  }
  std::vector<SizeExpr> operands{a, b};
  if (operands[1].str() < operands[0].str()) std::swap(operands[0], operands[1]);
  return SizeExpr::from_atom({SizeExpr::Atom::Kind::Product, "", std::move(operands)});
}

SizeExpr SizeExpr::floor_div(const SizeExpr& a, const SizeExpr& b) {
  const auto ca = a.constant(), cb = b.constant();
  if (ca && cb && *cb != 0) return floor_divide(*ca, *cb);
  if (cb && *cb == 1) return a;
  if (cb && *cb > 1) {
    // Whole multiples of the divisor leave the floor: floor((2*N + M)/2) = N + floor(M/2).
    SizeExpr whole, rest;
    const int64_t c = floor_divide(a.constant_, *cb);
    whole.constant_ = c;
    rest.constant_ = a.constant_ - c * *cb;
    for (const auto& term : a.terms_) {
      if (term.coefficient % *cb == 0)
        whole.terms_.push_back({term.coefficient / *cb, term.atom});
      else
        rest.terms_.push_back(term);
    }
    if (rest.terms_.empty()) return whole;
    return whole + from_atom({Atom::Kind::FloorDiv, "", {rest, b}});
  }
  return from_atom({Atom::Kind::FloorDiv, "", {a, b}});
}

SizeExpr SizeExpr::ceil_div(const SizeExpr& a, const SizeExpr& b) { return floor_div(a + b - 1, b); }
SizeExpr SizeExpr::mod(const SizeExpr& a, const SizeExpr& b) { return a - b * floor_div(a, b); }

SizeExpr SizeExpr::min(const SizeExpr& a, const SizeExpr& b) {
  if (const auto difference = (a - b).constant()) return *difference <= 0 ? a : b;
  std::vector<SizeExpr> operands{a, b};
  if (operands[1].str() < operands[0].str()) std::swap(operands[0], operands[1]);
  return from_atom({Atom::Kind::Min, "", std::move(operands)});
}

SizeExpr SizeExpr::max(const SizeExpr& a, const SizeExpr& b) {
  if (const auto difference = (a - b).constant()) return *difference >= 0 ? a : b;
  std::vector<SizeExpr> operands{a, b};
  if (operands[1].str() < operands[0].str()) std::swap(operands[0], operands[1]);
  return from_atom({Atom::Kind::Max, "", std::move(operands)});
}

std::optional<int64_t> SizeExpr::constant() const {
  if (terms_.empty()) return constant_;
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
  SizeExpr result = constant_;
  for (const auto& term : terms_) {
    SizeExpr value;
    if (term.atom->kind == Atom::Kind::Name) {
      const auto found = sizes.find(term.atom->name);
      value = found == sizes.end() ? name(term.atom->name) : SizeExpr(found->second);
    } else {
      TILE_TUNE_TRY(a, term.atom->operands[0].bind(sizes));
      TILE_TUNE_TRY(b, term.atom->operands[1].bind(sizes));
      switch (term.atom->kind) {
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
    const auto number = value.constant();
    int64_t product = 0, sum = 0;
    if (number && result.constant()) {
      if (__builtin_mul_overflow(*number, term.coefficient, &product) ||
          __builtin_add_overflow(*result.constant(), product, &sum))
        return fail(ErrorClass::Mismatch, "size-overflow", fmt::format("{} overflows 64 bits for these sizes", str()));
    }
    result = result + value * term.coefficient;
  }
  return result;
}

std::string SizeExpr::str() const {
  std::string text;
  // Positive terms first, so that H - KH + 1 does not print as -KH + H + 1.
  for (const bool positive : {true, false}) {
    for (const auto& term : terms_) {
      if ((term.coefficient > 0) != positive) continue;
      const int64_t magnitude = positive ? term.coefficient : -term.coefficient;
      text += text.empty() ? (positive ? "" : "-") : (positive ? " + " : " - ");
      if (magnitude != 1) text += fmt::format("{}*", magnitude);
      text += term.atom->str();
    }
  }
  if (text.empty()) return std::to_string(constant_);
  if (constant_ != 0) text += fmt::format(" {} {}", constant_ > 0 ? '+' : '-', constant_ > 0 ? constant_ : -constant_);
  return text;
}

}  // namespace tile_tune::ir
