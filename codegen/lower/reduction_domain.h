// The loops of a reduction, or of a part of it, as Halide's reduction domain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/schedule/dot_product.h"

namespace tile_tune::codegen {

/// What of one reduction loop is run through: `count` times `unroll` iterations from `first` on, of which an update
/// takes so many `together`, a divisor.
struct Span {
  Halide::Expr first = 0, count = 1;
  int64_t unroll = 1, together = 1;
};

struct ReductionDomain {
  std::vector<Halide::RVar> unrolled, loops, outermost;  // innermost first
  std::vector<Halide::Expr> positions;                   // by reduction loop, of the first that are taken together

  // The iterations of a dot product are those of the innermost loop.
  Halide::Expr part(const std::optional<DotProduct>& dot) const {
    return dot ? Halide::Expr(unrolled.front()) : Halide::Expr();
  }
  std::vector<Halide::RVar> all() const;
};

/// `order`: the reduction loops from outermost to innermost; `spans`: one each, by number. The loops stand in the
/// domain in the order they will run, unrolled parts innermost: Halide reorders the loops of a reduction only where it
/// can prove that the order does not matter, which it cannot for NaN-aware min and max. `outermost`: loops around them,
/// innermost first, which no position knows of.
ReductionDomain make_domain(const std::string& name, const std::vector<int>& order, const std::vector<Span>& spans,
                            const Halide::Region& outermost = {});

}  // namespace tile_tune::codegen
