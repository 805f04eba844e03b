// Factors that several rows of a register tile have in common, as values of their own.
//
// a(i,k) * (v(k) * b(k,j)) in rows i: Halide computes v * b beside every row and leaves it to LLVM to find that they
// are one. LLVM looks at each row first, where a and v are both broadcasts, and makes (a * v) * b of it, though the
// product in brackets is strict, which then cannot be fused with the sum (InstCombine, foldVectorBinop: it asks whether
// the outer product may be reassociated, not the inner one; Halide 21.0). 12 rows of one vector took 12 scalar products
// and 12 products and sums of vectors; with the product named they take one and 12 fused multiply-adds.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code: in the body of an innermost loop, which nothing but stores, products of vectors that may
/// not be reassociated and occur more than once are computed once, at its beginning.
class SharedFactors : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
};

}  // namespace tile_tune::codegen
