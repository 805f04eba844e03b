// Two floats in a vector that Halide takes for a ramp: its simplifier makes ramp(a, b - a, 2) of a and b side by side,
// whatever they are (Halide 21, Simplify::visit(const Shuffle *)), and code is made of a + (b - a), which is not b but
// for numbers that are alike, and NaN beside an infinite a.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code, before those that look at values: both numbers as they are.
class FloatRamps : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Ramp* op) override {
    if (!op->type.is_float() || op->lanes != 2 || !op->base.type().is_scalar()) return IRMutator::visit(op);
    const Halide::Expr base = mutate(op->base);
    return Halide::Internal::Shuffle::make_concat({base, Halide::Internal::simplify(base + mutate(op->stride))});
  }
};

}  // namespace tile_tune::codegen
