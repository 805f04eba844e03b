// The kernel's arguments: the caller's buffers as Funcs, and what is known of their extents and strides.
//
// Dimension 0 of a buffer is the fastest one. The real and imaginary parts of complex elements lie side by side: a
// first dimension of two, where the Func that holds the elements is a Tuple.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"
#include "codegen/lower/runtime_program.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Funcs that hold each tensor's elements so far, arguments in buffer order (fastest first).
using TensorFuncs = std::map<int, Halide::Func>;

/// Halide arguments of a tensor's Func from subscripts in the IR's order.
std::vector<Halide::Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Halide::Expr>& subscripts);

/// Of the buffer that holds an input.
std::string parameter_name(int tensor);

struct Inputs {
  std::vector<std::pair<Halide::ImageParam, int>> parameters;  // and whose they are, in the kernel's order
  TensorFuncs elements;              // of the caller's buffers, but for constants packed beforehand
  TensorFuncs readable;              // what expressions read: those, packed constants (`forms`), copies
  std::vector<Halide::Func> copies;  // of initial values, whose buffers are written while others are still to be read
};

/// Of a whole tensor, as the caller has it.
Halide::ImageParam parameter_of(const ir::Program& program, int tensor);

/// Of inputs and initial values; `forms`: of the constants that are packed beforehand.
Inputs make_inputs(const ir::Program& program, const std::vector<PackedForm>& forms);

/// The size that the schedule reads off an input's buffer.
Halide::Expr size_in(const Inputs& inputs, const ir::Program& program, const RuntimeSize& size);

/// The Funcs that are written to the outputs' buffers, in the program's order.
std::vector<Halide::Func> make_outputs(const ir::Program& program, const TensorFuncs& elements);
/// Directives of those that put the parts of complex elements side by side, but for the names in `by_nests`.
void schedule_interleaving(const ir::Program& program, const std::vector<Halide::Func>& outputs,
                           const std::set<std::string>& by_nests, bool sizes_are_known, const Target& target);

/// Tells extents and strides of a tensor's buffer. `runtime` and `sizes`: of kernels with runtime sizes, else null.
void describe_buffer(Halide::OutputImageParam buffer, const ir::Program& program, int tensor,
                     const RuntimeProgram* runtime = nullptr, const RuntimeSizes& sizes = {});
/// The same of a constant that is packed beforehand.
void describe_buffer(Halide::OutputImageParam buffer, const PackedForm& form);
/// Of all the kernel's buffers.
void describe_buffers(const ir::Program& program, const Inputs& inputs, std::vector<Halide::Func>& outputs,
                      const std::vector<PackedForm>& forms, const RuntimeProgram* runtime, const RuntimeSizes& sizes);
/// All of them begin at multiples of 16 bytes.
void align_buffers(const Inputs& inputs, std::vector<Halide::Func>& outputs);
/// What an automatic scheduler is told of it.
Halide::Region bounds_in_memory(const ir::Tensor& tensor);

}  // namespace tile_tune::codegen
