// A program whose schedule has runtime sizes (schedule/runtime_sizes.h), as Halide expressions over the extents of the
// kernel's buffers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

class RuntimeProgram {
 public:
  /// `values`: each runtime size, as read off a buffer.
  RuntimeProgram(const ir::Program& program, const RuntimeSizes& runtime, std::vector<Halide::Expr> values);

  /// The program with a name for each size in the numbers that depend on it.
  const ir::Program& named() const { return named_; }
  /// Statement `number` with each size as one more index behind its own: to_halide() takes values().
  const ir::Statement& spelled(size_t number) const { return spelled_[number]; }
  const std::vector<Halide::Expr>& values() const { return values_; }
  bool guarded() const { return guarded_; }

  /// True if the ranges alone keep this subscript of a statement's operand (a read, in the order of the value) inside
  /// its tensor at all sizes. Where that cannot be seen: false.
  bool reads_inside_always(size_t statement, int operand, size_t dimension) const;

  Halide::Expr number(const ir::SizeExpr& size) const;
  Halide::Expr extent(int tensor, size_t dimension) const { return number(named_.tensors[tensor].extents[dimension]); }

 private:
  ir::Program named_;
  std::vector<ir::Statement> spelled_;
  std::vector<Halide::Expr> values_;
  bool guarded_;
};

}  // namespace tile_tune::codegen
