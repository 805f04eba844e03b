// Terms of a sum that a border excludes, branched around.
//
// Where Halide does not cut a loop at its borders (in the pieces that it cuts off another loop, or in a loop that
// parallel loops were fused into), an element keeps its value by a select. Without masked instructions LLVM makes of
// that a product, the bits of the mask and a sum where one fused multiply-add would do, and the body of a convolution's
// loop has three instructions a vector. A condition that is one for all lanes can be a branch as well, which is
// foreseen nearly always: 3x3 windows of 64 x 56 x 56 took 2.0 ms with selects and 1.3 with branches, 23 programs with
// borders 1.17 times as long, by geometric mean (Zen 4 with AVX2, 2026-11-27; with AVX-512 1.03 times).
#pragma once

#include <vector>

#include "Halide.h"
#include "codegen/lower/code_lines.h"

namespace tile_tune::codegen {

/// A pass over lowered code: stores of select(condition, what lies there already, value), whose condition is one for
/// all lanes, become conditional ones, neighbours with equal conditions under one branch. Of complex elements the
/// second part, which is computed before the first is stored, keeps its select.
class ExcludedTerms : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override { return in_lines(op); }
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override { return in_lines(op); }
  Halide::Internal::Stmt visit(const Halide::Internal::Block* op) override { return in_lines(op); }
  // What is stored atomically keeps its form.
  Halide::Internal::Stmt visit(const Halide::Internal::Atomic* op) override { return op; }

  template <typename Node>
  Halide::Internal::Stmt in_lines(const Node* op) {
    std::vector<CodeLine> lines;
    return flatten(op, lines) ? branched(lines, op) : IRMutator::visit(op);
  }
  Halide::Internal::Stmt branched(const std::vector<CodeLine>& lines, const Halide::Internal::Stmt& whole);
};

}  // namespace tile_tune::codegen
