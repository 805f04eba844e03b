// bf16 on GPUs: words of 16 bits for the compiler, since Halide 21 aborts on CUDA kernels that know the type, and
// OpenCL has none.
#pragma once

#include <map>
#include <string>

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code: elements of bf16 become words, their conversions to and from f32 shifts, and comparisons
/// those of f32. Arithmetic in bf16, of which statements ask none, throws Halide::CompileError.
class Bfloat16AsBits : public Halide::Internal::IRMutator {
 public:
  using IRMutator::mutate;
  Halide::Expr mutate(const Halide::Expr& expr) override;

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::FloatImm* op) override;
  Halide::Expr visit(const Halide::Internal::Variable* op) override;
  Halide::Expr visit(const Halide::Internal::Load* op) override;
  Halide::Expr visit(const Halide::Internal::Cast* op) override;
  Halide::Expr visit(const Halide::Internal::Reinterpret* op) override;
  Halide::Expr visit(const Halide::Internal::Call* op) override;
  Halide::Expr visit(const Halide::Internal::EQ* op) override;
  Halide::Expr visit(const Halide::Internal::NE* op) override;
  Halide::Expr visit(const Halide::Internal::LT* op) override;
  Halide::Expr visit(const Halide::Internal::LE* op) override;
  Halide::Expr visit(const Halide::Internal::GT* op) override;
  Halide::Expr visit(const Halide::Internal::GE* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;

  template <typename Comparison>
  Halide::Expr compared(const Comparison* op);
};

}  // namespace tile_tune::codegen
