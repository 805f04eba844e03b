// Vectors inside the borders, without conditions and clamps.
//
// Halide cuts loops at the borders of a window, but no loop that parallel loops were fused into, nor the pieces that it
// cuts off another loop. There every vector that may lie across a border keeps its elements there by a select, of which
// LLVM makes a product, a mask and a sum where one fused multiply-add would do, and reads clamped or masked elements,
// also far from the border. Windows of 5 in steps of 2 over rows of 624, 32 channels and 16 filters, whose rows and
// filters are one parallel loop: 48 us, 37 so (two Zen 4 cores with AVX-512, 2026-11-30).
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code, before BorderLoads. A loop, or what computes a value, gets a second form for iterations
/// all of whose lanes lie inside, under the scalar condition that says so: without the comparisons of lanes that hold
/// then, and with plain loads where those stand for the clamps. Conditions that are one for all lanes stay
/// (ExcludedTerms).
class InsideBorders : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;
  template <typename Node>
  Halide::Internal::Stmt in_both_forms(const Node* op);

  bool in_registers_ = false;
};

}  // namespace tile_tune::codegen
