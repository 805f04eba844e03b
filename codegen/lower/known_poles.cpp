#include "codegen/lower/known_poles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tile_tune::codegen {
namespace {

struct Interval {
  double lo, hi;

  bool holds_zero() const { return !(lo > 0 || hi < 0); }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kAnything{-kInfinity, kInfinity};

Interval product(const Interval& a, const Interval& b) {
  const auto ends = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  // 0 times infinity: nothing is known.
  if (std::any_of(ends.begin(), ends.end(), [](double end) { return std::isnan(end); })) return kAnything;
  return {std::min(ends), std::max(ends)};
}

class Poles {
 public:
  explicit Poles(const ir::Statement& statement) : statement_(statement) {}

  /// The values of an expression without reads; of others nullopt. Notes a pole on the way.
  std::optional<Interval> visit(const ir::Expr& expr) {
    return std::visit([&](const auto& node) { return values(expr, node); }, expr.node);
  }

  bool found = false;

 private:
  std::optional<Interval> values(const ir::Expr&, const ir::Literal& literal) {
    const double value = std::visit([](auto number) { return static_cast<double>(number); }, literal.value);
    found |= std::isinf(value);
    return Interval{value, value};
  }
  std::optional<Interval> values(const ir::Expr&, const ir::IndexValue& value) {
    const ir::Range range = ir::range(statement_.indices[value.index]);
    return Interval{static_cast<double>(range.lo), static_cast<double>(range.hi - 1)};
  }
  std::optional<Interval> values(const ir::Expr&, const ir::SizeValue&) {
    return Interval{1, kInfinity};  // of programs for many sizes
  }
  std::optional<Interval> values(const ir::Expr&, const ir::Read&) { return std::nullopt; }
  std::optional<Interval> values(const ir::Expr&, const ir::Cast& cast) { return visit(*cast.argument); }

  std::optional<Interval> values(const ir::Expr& expr, const ir::Call& call) {
    std::vector<Interval> of;
    bool known = true;
    for (const auto& argument : call.arguments) {
      const auto one = visit(*argument);
      known &= one.has_value();
      of.push_back(one.value_or(kAnything));
      if (!one) continue;
      const bool is_divisor = call.op == ir::Op::Div && argument == call.arguments.back();
      found |= is_float(expr.type) && is_divisor && one->holds_zero();
      found |= is_logarithm(call.op) && one->lo <= (call.op == ir::Op::Log1p ? -1 : 0);
    }
    return known ? std::optional(result(call.op, of)) : std::nullopt;
  }

  static bool is_logarithm(ir::Op op) {
    return op == ir::Op::Log || op == ir::Op::Log2 || op == ir::Op::Log10 || op == ir::Op::Log1p ||
           op == ir::Op::Rsqrt || op == ir::Op::Lgamma;
  }

  static Interval result(ir::Op op, const std::vector<Interval>& of) {
    using enum ir::Op;
    switch (op) {
      case Add:
        return {of[0].lo + of[1].lo, of[0].hi + of[1].hi};
      case Sub:
        return {of[0].lo - of[1].hi, of[0].hi - of[1].lo};
      case Mul:
        return product(of[0], of[1]);
      case Neg:
        return {-of[0].hi, -of[0].lo};
      case Min:
        return {std::min(of[0].lo, of[1].lo), std::min(of[0].hi, of[1].hi)};
      case Max:
        return {std::max(of[0].lo, of[1].lo), std::max(of[0].hi, of[1].hi)};
      case Exp:
      case Exp2:
        return {of[0].lo > -80 ? std::numeric_limits<double>::min() : 0, kInfinity};
      case Sqrt:
        return {std::sqrt(std::max(0.0, of[0].lo)), std::sqrt(std::max(0.0, of[0].hi))};
      default:
        return kAnything;
    }
  }

  const ir::Statement& statement_;
};

}  // namespace

bool has_known_pole(const ir::Program& program) {
  return std::any_of(program.statements.begin(), program.statements.end(), [](const ir::Statement& statement) {
    Poles poles(statement);
    poles.visit(*statement.value);
    return poles.found;
  });
}

}  // namespace tile_tune::codegen
