// Vectors that are stored across memory, transposed in registers.
//
// A block of vectors whose lanes go to lines apart, each beside those of the vectors before, is stored lane by lane;
// the compiler finds stores of four neighbours in it, so that each line is written in pieces at different times. Where
// the lines lie a page apart they push each other out of the first cache in between. Transposed first, each line is
// written at once.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code. Stores of vectors in a row whose lanes lie equally far apart, and beside each other's, are
/// made of as many vectors of neighbours; also where Halide has made one store of them.
class Transposes : public Halide::Internal::IRMutator {
 public:
  /// `vector_bytes`: of the target.
  explicit Transposes(int vector_bytes) : vector_bytes_(vector_bytes) {}

 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Block* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;

 private:
  /// Undefined where the statements cannot be put in a line.
  Halide::Internal::Stmt in_line(const Halide::Internal::Stmt& stmt);

  int vector_bytes_;
};

}  // namespace tile_tune::codegen
