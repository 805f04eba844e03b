// A pass over the lowered code: vectors of reversed tensors at places that are numbers.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "Halide.h"
#include "codegen/lower/arguments.h"

namespace tile_tune::codegen {

/// The name of a buffer with a negative stride that is a number, if the kernel has one.
std::optional<std::string> reversed_buffer(const ir::Program& program, const Inputs& inputs,
                                           const std::vector<Halide::Func>& outputs);

/// Halide tells LLVM which elements a vector at a known place has, and takes for granted that the place is none before
/// the buffer's first element and that the vector runs forward (21.0, CodeGen_LLVM::add_tbaa_metadata): an internal
/// error, or loads and stores that LLVM may exchange. Such places are made unknown by the buffer's lowest index, 0.
class Reversed : public Halide::Internal::IRMutator {
 public:
  explicit Reversed(std::string buffer) : buffer_(std::move(buffer)) {}
  using IRMutator::mutate;
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Load* load) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* store) override;
  static Halide::Expr unknown(const Halide::Expr& index);

  std::string buffer_;
  bool inside_ = false;
};

}  // namespace tile_tune::codegen
