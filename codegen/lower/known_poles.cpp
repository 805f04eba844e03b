#include "codegen/lower/known_poles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "frontend/ir/domain.h"

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

Interval hull(const Interval& a, const Interval& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
std::optional<Interval> hull(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  return a && b ? hull(*a, *b) : a ? a : b;
}

// By tensor, where those of its values lie that indices, sizes and literals alone say: of an element that nothing
// writes, what it starts from. nullopt: there are none.
using KnownValues = std::vector<std::optional<Interval>>;

class Poles {
 public:
  Poles(const ir::Statement& statement, const KnownValues& known) : statement_(statement), known_(known) {}

  /// The values of an expression that may be known when it is compiled. Notes a pole on the way.
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
  std::optional<Interval> values(const ir::Expr&, const ir::Read& read) {
    return known_[static_cast<size_t>(read.tensor)];
  }
  std::optional<Interval> values(const ir::Expr&, const ir::Cast& cast) { return visit(*cast.argument); }

  std::optional<Interval> values(const ir::Expr& expr, const ir::Call& call) {
    std::vector<Interval> of;
    std::vector<std::optional<Interval>> arguments;
    bool known = true;
    for (const auto& argument : call.arguments) {
      const auto one = visit(*argument);
      known &= one.has_value();
      of.push_back(one.value_or(kAnything));
      arguments.push_back(one);
      if (!one) continue;
      const bool is_divisor = call.op == ir::Op::Div && argument == call.arguments.back();
      found |= is_float(expr.type) && is_divisor && one->holds_zero();
      found |= is_logarithm(call.op) && one->lo <= (call.op == ir::Op::Log1p ? -1 : 0);
    }
    if (call.op == ir::Op::Select) return hull(arguments[1], arguments[2]);
    if (!known) return std::nullopt;
    const Interval values = result(call.op, of);
    return std::isnan(values.lo) || std::isnan(values.hi) ? kAnything : values;
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
  const KnownValues& known_;
};

Interval identity_range(ir::Aggregation op) {
  switch (op) {
    case ir::Aggregation::Product:
      return {1, 1};
    case ir::Aggregation::Min:
      return {kInfinity, kInfinity};
    case ir::Aggregation::Max:
      return {-kInfinity, -kInfinity};
    case ir::Aggregation::Assign:
    case ir::Aggregation::Sum:
      break;
  }
  return {0, 0};
}

bool is_empty(const ir::Index& index) { return ir::range(index).extent() == 0; }

/// Those of the target, of whose values `value` are the known ones of a term.
std::optional<Interval> known_of_target(const ir::Program& program, const ir::Statement& statement,
                                        const std::optional<Interval>& value, const KnownValues& known) {
  const auto from = statement.previous ? statement.previous : statement.unwritten;
  const std::optional<Interval> unwritten = from ? known[static_cast<size_t>(*from)] : Interval{0, 0};
  const bool adds_nothing = std::any_of(statement.indices.begin(), statement.indices.end(), is_empty);
  std::optional<Interval> written = value;
  if (adds_nothing && statement.op != ir::Aggregation::Assign)
    written = statement.previous ? unwritten : identity_range(statement.op);
  else if (statement.previous || !statement.reduction_indices().empty())
    written = value && (!statement.previous || unwritten) ? std::optional(kAnything) : std::nullopt;
  return ir::writes_all(program, statement) ? written : hull(written, unwritten);
}

}  // namespace

bool has_known_pole(const ir::Program& program) {
  KnownValues known(program.tensors.size());
  for (const auto& statement : program.statements) {
    Poles poles(statement, known);
    const auto value = poles.visit(*statement.value);
    if (poles.found) return true;
    known[static_cast<size_t>(statement.target)] = known_of_target(program, statement, value, known);
  }
  return false;
}

}  // namespace tile_tune::codegen
