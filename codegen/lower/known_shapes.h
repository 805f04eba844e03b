// Kernels of collapsed dimensions, whose callers' buffers have them apart.
#pragma once

#include <map>
#include <string>

#include "Halide.h"

namespace tile_tune::codegen {

/// Drops what asks buffers for type, dimensions, extents and strides, all of which are numbers that callers make them
/// from. That no element outside is accessed is checked here instead: throws Halide::CompileError.
class KnownShapes : public Halide::Internal::IRMutator {
 public:
  using IRMutator::mutate;
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;

 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::AssertStmt* op) override;

 private:
  bool has_looked_ = false;
  std::map<std::string, Halide::Expr> numbers_;  // "tensor0.extent.1": 15
};

}  // namespace tile_tune::codegen
