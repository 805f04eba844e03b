// Indices of loops that were fused, put together again.
//
// The index of a fused loop is taken apart by quotient and remainder, and where the loops lie next to each other in
// memory, the address puts them together again. Halide does not see that: of the remainder by 7 of a vector that begins
// at 16 b it has made (2 b + lane) % 7 before. What is left are divisions in each lane, and a vector whose lanes may
// lie anywhere. (Transposing 102 x 7 x 7 weights took as long as the depthwise convolution with them.)
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code: (x / c) * c * d + (y % c) * d, where x and y differ by a multiple of c, becomes x * d in
/// vectors of 32-bit integers, whatever they are for; so do quotients of quotients. Indices of 64 bits (kernels for
/// many sizes) stay as they are.
class JoinedIndices : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Add* op) override;
};

}  // namespace tile_tune::codegen
