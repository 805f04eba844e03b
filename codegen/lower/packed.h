// Copies of operands: made inside the kernel, or, of constants, by functions of their own beforehand.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/lower/values.h"
#include "codegen/schedule/gpu_nest.h"
#include "codegen/schedule/matrix_tiles.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct PackedOperand {
  Packing choice;
  Halide::Func func;  // arguments: the operand tensor's dimensions, in subscript order; of a copy made beforehand, the
                      // dimensions of its form as stored
  std::vector<int64_t> extents;      // of the whole tensor, which a copy made once for the stage holds at most
  std::optional<DotProduct> dot;     // the column of dot products: their iterations are one dimension more, the first
  std::optional<PackedForm> form{};  // defined if the copy is made beforehand; nothing below is then
  std::vector<Halide::Var> vars{};
  std::optional<Halide::Var> part{};    // the dimension of a dot product's iterations; that along the reduction then
                                        // counts groups
  std::vector<int> in_memory{};         // dimensions of the operand with more than one element, neighbours first
  std::vector<bool> unclamped{};        // by dimension: all iterations stay inside, so exactly what they read is copied
  std::vector<bool> bordered{};         // by dimension: what lies beyond its border is copied, as zeros
  std::vector<int64_t> stored_sides{};  // of a copy in a GPU's shared memory: gpu_nest.h
  CopyTurns turns{};                    // of such a copy
  int product = -1;                     // the node of the term's Product that is copied, if more than the operand
};

/// Elements on their way into a copy: halves are widened once, since that takes a dozen instructions with its care for
/// NaN and infinities, and so are bytes for pairs of a dot product.
Values as_stored(Values elements, DType from, DType as);

/// How the elements of the statement's operand are copied inside the kernel; `element`: what to copy at these
/// subscripts.
PackedOperand copy_in_kernel(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
                             const Packing& choice, const std::optional<DotProduct>& dot,
                             const std::optional<MatrixTiles>& tiles,
                             const std::function<Values(const std::vector<Halide::Expr>& subscripts)>& element,
                             const std::string& name);

/// Of a copy made beforehand, which `parameter` holds.
PackedOperand copy_made_beforehand(const PackedForm& form, const Halide::Func& parameter);

/// The values of the statement's indices where the operand is read at these subscripts, as far as they tell: undefined
/// for indices it does not use. nullopt: one that it uses stands in no subscript alone.
std::optional<std::vector<Halide::Expr>> indices_at(const ir::Statement& statement, const Operand& operand,
                                                    const std::vector<Halide::Expr>& subscripts);

/// Where in the copy the element at these subscripts is; `part`: which of a dot product's iterations.
std::vector<Halide::Expr> packed_arguments(const PackedOperand& packed, std::vector<Halide::Expr> subscripts,
                                           const Halide::Expr& part);

}  // namespace tile_tune::codegen
