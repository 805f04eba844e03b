// The value of one element in Halide: one expression, or for complex types its real and imaginary part.
//
// A Func that holds complex elements is a Tuple of two; in memory the parts lie interleaved (arguments.h).
#pragma once

#include <vector>

#include "Halide.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

using Values = std::vector<Halide::Expr>;

/// Element of a Func, and its (pure or update) definition.
Values at(const Halide::Func& func, const std::vector<Halide::Expr>& arguments);
Values at(const Halide::Func& func, const std::vector<Halide::Var>& arguments);
void define(Halide::Func& func, const std::vector<Halide::Var>& vars, const Values& values);

/// The function applied to each part.
template <typename Function>
Values each_part(const Values& values, Function function) {
  Values result;
  for (const auto& part : values) result.push_back(function(part));
  return result;
}
Values select(const Halide::Expr& condition, const Values& if_true, const Values& if_false);

/// The product of complex numbers, or of their conjugates.
Values product_of_parts(const Values& a, bool conjugate_a, const Values& b, bool conjugate_b);

/// An operation that complex numbers know (frontend/ir/validate.cpp), on arguments of two parts; comparisons give one.
Values complex_call(ir::Op op, const std::vector<Values>& arguments);

}  // namespace tile_tune::codegen
