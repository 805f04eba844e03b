// Sums that all threads of a GPU's block compute together, each its own part. In Halide 21 what is meant for registers
// and computed at block level has the size of the whole block's tile on every thread: 64 sums a thread are 64 KB of
// stack, since LLVM cannot take an array apart whose indices depend on the thread's number.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code: leaves of each such buffer the elements that one thread uses, numbered from 0. Where a
/// thread would read an element that another one wrote, which Halide lets pass, it throws Halide::CompileError.
class ShrinkRegisters : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;

  int threads_ = 0;  // loops over threads around
  int blocks_ = 0;
};

}  // namespace tile_tune::codegen
