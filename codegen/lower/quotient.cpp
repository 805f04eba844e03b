// x / z = (x * s) * (1 / (z * s)), where the power of two s keeps both z * s and its reciprocal away from the ends of
// the type. Where s is not 1 the quotient is as far from 1 as z unless x is too, and x * s leaves the type only if the
// quotient does. Zen 4 divides 16 numbers in some 10 cycles and multiplies them in one.
#include "codegen/lower/quotient.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;

// Finds anything that a division's divisor must not hold: other Vars than the free ones, names bound further out.
class Search : public Halide::Internal::IRVisitor {
 public:
  explicit Search(const std::vector<std::string>& free) : free_(free) {}
  bool reads = false, varies = false;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Variable* variable) override {
    varies |= std::find(free_.begin(), free_.end(), variable->name) == free_.end();
  }
  void visit(const Halide::Internal::Let*) override { varies = true; }
  void visit(const Halide::Internal::Call* call) override {
    reads |= call->call_type == Halide::Internal::Call::Halide || call->call_type == Halide::Internal::Call::Image;
    IRVisitor::visit(call);
  }

  const std::vector<std::string>& free_;
};

struct Range {
  double least, most;    // of |z|, for which no scale is needed
  double scale_of_less;  // and for those less and more than that
  double scale_of_more;
};

Range range_of(const Halide::Type& type) {
  if (type.bits() == 32) return {0x1p-100, 0x1p100, 0x1p64, 0x1p-64};
  return {0x1p-900, 0x1p900, 0x1p512, 0x1p-512};
}

Expr quotient(const Expr& dividend, const Expr& divisor) {
  const Halide::Type type = divisor.type();
  const auto number = [&](double value) { return Halide::Internal::make_const(type, value); };
  const Range range = range_of(type);
  const std::string prefix = Halide::Internal::unique_name('z');
  const Expr z = Halide::Internal::Variable::make(type, prefix),
             s = Halide::Internal::Variable::make(type, prefix + "s");
  // NaN is in neither range.
  const Expr scale = Halide::select(Halide::abs(z) < number(range.least), number(range.scale_of_less),
                                    Halide::abs(z) > number(range.most), number(range.scale_of_more), number(1));
  const Expr product = (dividend * s) * (number(1) / (z * s));
  return Halide::Internal::Let::make(prefix, divisor, Halide::Internal::Let::make(prefix + "s", scale, product));
}

class Reciprocals : public Halide::Internal::IRMutator {
 public:
  explicit Reciprocals(const std::vector<std::string>& free) : free_(free) {}

 private:
  using IRMutator::visit;
  Expr visit(const Halide::Internal::Div* division) override {
    const Expr dividend = mutate(division->a);
    Search search(free_);
    division->b.accept(&search);
    const Halide::Type type = division->type;
    const bool fits = type.is_float() && !type.is_bfloat() && type.bits() >= 32;
    if (!fits || !search.reads || search.varies) return Halide::Internal::Div::make(dividend, mutate(division->b));
    return quotient(dividend, division->b);
  }

  const std::vector<std::string>& free_;
};

}  // namespace

Expr with_shared_reciprocals(const Expr& value, const StageLoops& stage) {
  constexpr int64_t kLongRow = 64;  // four vectors of the widest
  const int row = stage.contiguous;
  if (stage.deterministic || !stage.loops.reduction.empty() || row < 0) return value;
  if (stage.loops.output[row] < kLongRow) return value;
  std::vector<std::string> others;
  for (int p = 0; p < static_cast<int>(stage.vars.size()); ++p)
    if (p != row) others.push_back(stage.vars[p].name());
  return Reciprocals(others).mutate(value);
}

}  // namespace tile_tune::codegen
