// A pass over the lowered code: loads from outputs that do not take the caller's buffers for aligned.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "Halide.h"

namespace tile_tune::codegen {

/// Halide takes loads from a Func for aligned like its own allocations, also where the Func is an output and its buffer
/// the caller's, which may begin anywhere (21.0, CodeGen_LLVM::codegen_dense_vector_load): a later statement that reads
/// an output died of its aligned loads.
class CallersAlignment : public Halide::Internal::IRMutator {
 public:
  explicit CallersAlignment(std::set<std::string> outputs) : outputs_(std::move(outputs)) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Load* load) override {
    if (!outputs_.count(load->name)) return IRMutator::visit(load);
    return Halide::Internal::Load::make(load->type, load->name, mutate(load->index), load->image, load->param,
                                        mutate(load->predicate), Halide::Internal::ModulusRemainder());
  }

  std::set<std::string> outputs_;
};

}  // namespace tile_tune::codegen
