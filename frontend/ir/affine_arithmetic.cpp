#include "frontend/ir/affine_arithmetic.h"

#include <algorithm>

namespace tile_tune::ir {

std::optional<AffineExpr> multiply_add(int64_t factor, const AffineExpr& a, const AffineExpr& b) {
  AffineExpr sum = b;
  sum.constant = a.constant * factor + b.constant;
  if (sum.constant.overflowed()) return std::nullopt;
  for (const auto& [index, coefficient] : a.terms) {
    int64_t product = 0;
    if (__builtin_mul_overflow(factor, coefficient, &product)) return std::nullopt;
    const auto at = std::lower_bound(sum.terms.begin(), sum.terms.end(), index,
                                     [](const auto& term, int number) { return term.first < number; });
    if (at == sum.terms.end() || at->first != index)
      sum.terms.insert(at, {index, product});
    else if (__builtin_add_overflow(at->second, product, &at->second))
      return std::nullopt;
  }
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  return sum;
}

std::optional<SizeExpr> on_sizes(Op op, const SizeExpr& a, const SizeExpr& b) {
  switch (op) {
    case Op::Mul:
      return a * b;
    case Op::Div:
      return b.constant() == 0 ? std::nullopt : std::optional(SizeExpr::floor_div(a, b));
    case Op::Mod:
      return b.constant() == 0 ? std::nullopt : std::optional(SizeExpr::mod(a, b));
    case Op::Min:
      return SizeExpr::min(a, b);
    case Op::Max:
      return SizeExpr::max(a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace tile_tune::ir
