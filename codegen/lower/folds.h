// Sums over the lanes of several vectors, made together.
//
// A reduction in lanes ends with a vector of partial sums for each element of the register tile, which is folded by
// halves down to one lane. Element by element most lanes of these sums stay empty: 26 vectors of 8 floats take 26 x 3
// sums and as many shuffles. Two halved vectors fill one, which is halved together with another: 8 vectors take 4 + 2 +
// 1 sums of 8 lanes, with two shuffles each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// Adds the statements of which a block consists, of blocks within blocks, too, in their order.
void flatten(const Halide::Internal::Stmt& stmt, std::vector<Halide::Internal::Stmt>& parts);

/// A pass over lowered code. Where a block begins with stores of sums of the lower and upper halves of pieces of one
/// buffer, one after the other, in another, and both are meant for registers, it stores them by whole vectors.
class FoldsTogether : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Block* op) override;

  std::map<std::string, int> vectors_;  // lanes by which buffers that are meant for registers are stored
};

}  // namespace tile_tune::codegen
