// What a kernel takes in place of a constant input (ir::Tensor::constant): the operand as the kernel reads it fastest.
//
// A constant that is read once, by an operand that the schedule packs, is packed before any kernel runs, wherever in
// the nest the schedule has the copy: it is made once and costs nothing then. The copy is stored for the register
// tiles. The first dimension of the packing's order, where one output loop walks it, is cut into blocks as wide as that
// loop's register tile (as a vector, where a last tile is moved back); a block holds the other dimensions in their
// order, and blocks follow each other, so that tiles read memory from front to back. Every other constant is taken as
// it is, and its packed form is a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// A dimension of an operand cut into blocks: element `origin + i` lies in block i / width.
struct Blocks {
  int loop = 0;  // output loop that walks the dimension, from `origin` on
  int64_t width = 1;
  int64_t origin = 0;
  int64_t count = 1;
  bool guarded = false;  // the extent is no multiple of the width: tiles begin at multiples of their size, and the last
                         // one computes beyond the border, from elements that mean nothing, what it does not store
};

struct PackedForm {
  int tensor = -1;     // the constant
  int statement = -1;  // that reads it
  Packing packing;     // of the statement's schedule
  std::optional<Blocks> blocks;
  std::optional<DotProduct> dot;  // if it is the column of dot products: their iterations are stored innermost
  DType type = DType::F32;        // of what is stored: halves that are only widened are float32,
                                  // bytes for pairs of a dot product int16
  std::vector<int64_t> extents;   // as stored, compact, the fastest first: iterations of a dot product, the dimensions
                                  // of the order, blocks

  int64_t bytes() const;
};

/// True if the operand, should a schedule pack it, is packed before kernels run.
bool is_packed_beforehand(const ir::Program& program, const Operand& operand);

/// Forms of the constants that the schedule packs, by tensor; it must be valid. Constants that are missing here are
/// taken as they are.
std::vector<PackedForm> packed_forms(const ir::Program& program, const Schedule& schedule);

/// True if every half that the expression reads is converted to f32 at once. Copies then hold float32.
bool only_widened_halves(const ir::Expr& expr);

}  // namespace tile_tune::codegen
