// What every Program keeps to, checked: used on programs that come from files.
//
// Front ends make valid programs; this is for those we did not make ourselves. Everything program.h and
// expr.h state that does not depend on sizes is checked (bind() does the rest): tensors and indices that exist,
// single assignment, reads of what is already there, ranks, element types, names that can stand in C.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// The first violation, class Program, or what check_tensor_size() finds; its message starts with the JSON path of the
/// offending part, as in "statements[0].value.arguments[1]: ...".
Result<void> validate(const Program& program);

/// That the elements and bytes of a tensor whose extents are numbers can be counted in 64 bits; of one with sizes
/// nothing is known yet. Class Mismatch, tensor-too-large.
Result<void> check_tensor_size(const Tensor& tensor);

}  // namespace tile_tune::ir
