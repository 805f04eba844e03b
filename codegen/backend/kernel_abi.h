// How compiled kernels are called, whichever backend made them, by programs of one canonical form and one schedule.
//
// A kernel is `int NAME(struct halide_buffer_t* arg...)`, one buffer per kernel_arguments(). Dimension 0 of a buffer is
// the first one of ir::memory_order(), and its host pointer shows element (0, ..., 0). The initial value of an in/out
// output is an argument of its own, and may be the very buffer of that output. A kernel of known shapes takes buffers
// at their word: nothing looks whether one is what the program says. Of a collapsed schedule, too, buffers
// have the dimensions of the program; its kernels look at none of them.
//
// Where packed_forms() of the schedule (codegen/schedule/packed_form.h) has a form for a constant, the buffer of that
// argument is the packed operand, and the object also defines `int NAME_packT(struct halide_buffer_t* constant, struct
// halide_buffer_t* packed)` for tensor number T, which fills it. A packed operand has the type and the extents of the
// form, the fastest first; given a buffer without memory, NAME_packT leaves these in it. Any other constant is an
// argument like every input.
#pragma once

#include <string>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Tensor numbers in the order of the compiled function's arguments: inputs in signature order, then the
/// initial values (Role::InOut) of in/out outputs in signature order, then outputs in signature order.
inline std::vector<int> kernel_arguments(const ir::Program& program) {
  std::vector<int> result = program.inputs;
  for (const int output : program.outputs)
    if (const auto initial = program.initial_value_of(output)) result.push_back(*initial);
  result.insert(result.end(), program.outputs.begin(), program.outputs.end());
  return result;
}

/// The function that packs constant number `tensor` for the kernel `function`.
inline std::string packing_function(const std::string& function, int tensor) {
  return function + "_pack" + std::to_string(tensor);
}

}  // namespace tile_tune::codegen
