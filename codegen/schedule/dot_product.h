// Dot-product instructions: each lane adds up the products of 2 or 4 neighbouring iterations of a reduction
// (AVX-512: vpdpbusd on bytes, vpdpwssd on 16-bit integers, vdpbf16ps on bf16; any x86: pmaddwd on 16-bit integers, and
// an addition).
//
// The neighbours must lie side by side in the vector operand: it is packed so. vpdpbusd multiplies unsigned by signed
// bytes; where both are signed, the other operand is shifted by 128 and the sum set right by 128 times the vector
// operand's own sum, which is exact in wrapping int32.
//
// In pairs (NestSchedule::dot_pairs) copies hold bytes as 16-bit integers, and nothing is shifted.
//
// In lanes of a reduction both operands lie along it: each lane takes pairs, bytes widened to 16 bits.
//
// A GPU's (dp4a) adds up products of four bytes of either sign, each operand's in one register: one load where the copy
// in shared memory has the reduction's dimension in front.
#pragma once

#include <optional>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct DotProduct {
  int width = 2;          // iterations an instruction takes: 4 of 8-bit factors, 2 of 16-bit ones and in lanes
  int loop = 0;           // reduction loop they are taken from: the innermost
  bool in_lanes = false;  // the vector loop is that one
  int column = 0;         // operand that differs from lane to lane: a Read of the statement's value, as in Packing; -1
                          // where there is none: in lanes, and on a GPU, where both lie as they are packed
  int dimension = 0;      // of that operand's tensor, along which the reduction walks
  bool shifted = false;   // both factors are int8, and not of whole tiles: the other operand is shifted by 128
  bool widened = false;   // both factors are bytes, and taken as 16-bit integers
};

/// The type whose dot products a statement's terms are: BF16, I16 or, whatever their signs, I8.
std::optional<DType> dot_product_type(const ir::Statement& statement);

/// Whether products are of signed bytes, of which conditions leave terms out: the sum that sets the shift right has
/// those.
bool leaves_shifted_out(const ir::Statement& statement);

/// Whether a CPU has dot products of the type, should bytes be widened for it, and as they are.
bool has_pairs(const Target& target, DType type);
bool has_dot_products_of(const Target& target, DType type);

/// How the stage would use the instruction, whatever its `dot_product` says: nothing where the statement is no sum of
/// products of two narrow operands, its vector loop neither an output loop nor the innermost reduction, or that one of
/// fewer iterations than an instruction takes. Of columns the innermost reduction is a subscript of its own.
std::optional<DotProduct> dot_product(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage);

/// The stage with plain sums: no loop is unrolled further than its blocks allow then.
NestSchedule without_dot_product(NestSchedule stage, int outputs);

}  // namespace tile_tune::codegen
