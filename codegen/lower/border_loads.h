// Vectors that hang over a border, loaded at once.
//
// What lies outside a border is read clamped, since its term does not count, and a clamped vector is gathered element
// by element: for two of the three taps of a padded row, in each vector at its ends. A masked load brings the whole
// vector at once, and lanes outside the border touch no memory.
#pragma once

#include <vector>

#include "Halide.h"
#include "codegen/lower/lane_functions.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// A pass over lowered code. Loads of a vector whose index is clamped, of neighbours or of every second to fourth
/// element in memory, become masked loads where a select around them takes only lanes that the clamp leaves alone.
/// Others stay: what a program itself clamps means the elements at the border. Indices of 64 bits stay, too (kernels
/// for many sizes).
class BorderLoads : public SelectedLanes {
 public:
  explicit BorderLoads(const Target& target) : target_(target) {}

 private:
  using SelectedLanes::visit;
  Halide::Expr visit(const Halide::Internal::Load* op) override;
  Halide::Expr visit(const Halide::Internal::Shuffle* op) override;
  // Their lanes are others.
  Halide::Expr visit(const Halide::Internal::VectorReduce* op) override { return without_known(op); }
  Halide::Expr visit(const Halide::Internal::Broadcast* op) override { return without_known(op); }

  template <typename Node>
  Halide::Expr without_known(const Node* op) {
    const Halide::Internal::ScopedValue<std::vector<Halide::Expr>> unknown(known_, {});
    return IRMutator::visit(op);
  }
  /// Undefined if the load stays as it is.
  Halide::Expr under_mask(const Halide::Internal::Load& load) const;
  /// The same of a shorter vector whose last element is repeated, which is what Halide makes of a clamp that always
  /// begins at the same lane.
  Halide::Expr under_mask(const Halide::Internal::Shuffle& repeated) const;

  const Target& target_;
};

}  // namespace tile_tune::codegen
