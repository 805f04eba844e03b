// Parts of one element that are stored together. Where the new parts of a complex product read the old ones inside
// calls (likely(), strict arithmetic), Halide 21 does not see that they do, and stores the first part before the second
// is computed from it.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// Of two parts of an element that are stored one after the other, computes the second before the first is stored.
class TupleStores : public Halide::Internal::IRMutator {
 public:
  using IRMutator::mutate;

 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Block* op) override;
};

/// Refuses code in which a second part is still computed from the first after that is stored: throws
/// Halide::CompileError. Values that would be wrong stand in no shape that TupleStores does not know.
class TupleStoresCheck : public Halide::Internal::IRMutator {
 public:
  using IRMutator::mutate;
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;
};

}  // namespace tile_tune::codegen
