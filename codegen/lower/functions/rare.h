// Arguments that take longer, in a branch: zeros, infinities and subnormal numbers where they are not common, sines of
// large numbers, remainders of large quotients.
//
// An expression computes both sides of a select for all lanes. Here the longer side is a call until the code is lowered
// and in vectors, where Halide neither moves its parts out of the branch nor merges them with others.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

/// `usual`, but in lanes where `is_rare` what the rare case of this name (rare.cpp) gives of the arguments. Only where
/// a lane of the vector needs it does it take time.
Halide::Expr usually(const Halide::Expr& usual, const Halide::Expr& is_rare, const std::string& rare_case,
                     const std::vector<Halide::Expr>& arguments);

/// A pass over lowered code, and one that must run: makes branches of what usually() stands for, and of fma(),
/// product_error(), where_fused() and roundings to integers the target's instructions, or arithmetic where it has none.
/// Of a target with a GPU all code is for that, and scalar.
class RareCases : public Halide::Internal::IRMutator {
 public:
  explicit RareCases(const Halide::Target& target);

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* op) override;

  enum class Code { Cpu, Cuda, OpenCl };
  const Code code_;
  bool fuses_, is_deterministic_, approximates_, rounds_;
};

}  // namespace tile_tune::codegen::functions
