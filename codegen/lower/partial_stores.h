// Vectors that are longer than their loop, stored as two halves that overlap.
//
// Without AVX-512 a masked store is a program of its own: one of seven floats takes 3.3 ns, of three 1.6, both halves
// 0.55 (AMD EPYC (Zen 4), 2026-11-28).
#pragma once

#include "Halide.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// A pass over lowered code: stores of more than half of a vector's lanes, the first ones, to neighbours.
class PartialStores : public Halide::Internal::IRMutator {
 public:
  explicit PartialStores(const Target& target) : target_(target) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;

  const Target& target_;
};

}  // namespace tile_tune::codegen
