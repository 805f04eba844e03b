// Canonical form and content hash of programs (decision 9).
//
// canonicalize() orders operands and numbers tensors and indices by what the program computes, not by how it was
// spelled; schedules name loops and operands by these numbers, so search and code generation work on canonical programs
// only. Names stay for display but never enter a hash.
#pragma once

#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Tensors renumbered: inputs by first read (the tensor a statement continues counts after its reads), inputs
/// nothing reads, then statement targets in order. Per statement, indices renumbered: output indices by
/// position on the left (within a subscript larger strides first), then reduction indices by first appearance
/// in the value; those the value cannot tell apart by all their uses, constraints and ranges. Constraints are
/// sorted, literals take their type's form (2 and 2.0 as f32 are one). Operands of + * min max == != and or are
/// sorted by what they read and where it goes (A(i,k)*B(k,j) for an output (i,j), however written); floats keep
/// their grouping, as (a*b)*c rounds differently from a*(b*c). Statements of a bound program are in gather form
/// (gather.h). Idempotent. `inputs` and `outputs` keep the signature's order.
Program canonicalize(const Program& program);

/// SHA-256 (hex) of the canonical JSON: extents as numbers, element types included; index, size and tensor
/// names, argument order, layouts and what is constant erased, values of sizes as literals. The program must be bound.
/// Starts with a format version, equal on every platform.
std::string content_hash(const Program& program);

/// The same with extents erased: equal for one program at all its sizes, bound or not. Ranges and the constant
/// shifts of subscripts are erased with them (bound, N - 1 and 511 look alike); strides, denominators and
/// literals stay. Where a statement is not plain, its gather form, and with it the hash, may depend on the sizes.
std::string family_hash(const Program& program);

/// How the arguments of a canonical program lie, as records have it: "row" or "col" where all agree, else a letter for
/// each by number, a capital for one that is constant, "s[4096,1]" for one with strides: the key must not depend on the
/// order of a signature any more than the content hash does. What is judged with cold caches is another workload, too.
std::string layout_text(const Program& canonical);

}  // namespace tile_tune::ir
