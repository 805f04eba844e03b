// From a canonical, bound Program and a Schedule to object code; lower.h has the way. The border where Halide begins
// and ends: Halide::Error never leaves it (guard.h). Compiling may still abort the process (LLVM assertions), so only
// child processes call compile_* (search/workers).
//
// The compiled function is `int NAME(struct halide_buffer_t* arg...)`, one buffer per kernel_arguments().
// Dimension 0 of a buffer is the first one of ir::memory_order(), and its host pointer shows element (0, ..., 0).
// The initial value of an in/out output is an argument of its own, and may be the very buffer of that output.
//
// Where packed_forms() of the schedule has a form for a constant, the buffer of that argument is the packed operand,
// and the object also defines `int NAME_packT(struct halide_buffer_t* constant, struct halide_buffer_t* packed)` for
// tensor number T, which fills it. A packed operand has the type and the extents of the form, the fastest first. Any
// other constant is an argument like every input.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/backend.h"
#include "codegen/lower/autoscheduler.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Tensor numbers in the order of the compiled function's arguments: inputs in signature order, then the
/// initial values (Role::InOut) of in/out outputs in signature order, then outputs in signature order.
std::vector<int> kernel_arguments(const ir::Program& program);

/// The function that packs constant number `tensor` for the kernel `function`.
std::string packing_function(const std::string& function, int tensor);

/// Writes a relocatable object (without Halide's runtime) that defines `function` and what packs its constants. The
/// program must be canonical.
Result<Compiled> compile_object(const ir::Program& program, const Schedule& schedule, const Target& target,
                                const std::string& function, const std::filesystem::path& object);

/// The same with the schedule that Halide's scheduler chooses for the program's Funcs, which are as plain as they can
/// be and whose inputs and outputs carry their extents. May take minutes. Errors: the plugin is missing, in/out
/// outputs.
Result<Compiled> compile_autoscheduled(const ir::Program& program, AutoScheduler scheduler, const Target& target,
                                       const std::string& function, const std::filesystem::path& object);

/// The loop nest that compile_object() would turn into machine code, as Halide prints it, without the checks of
/// arguments before it: for people and tests.
Result<std::string> lowered_loops(const ir::Program& program, const Schedule& schedule, const Target& target);

/// What compile_object() would turn into machine code as C++ that makes the same pipeline with the Halide SDK, whose
/// function has the program's name; `remarks` are the first lines of its comment.
Result<std::string> halide_source(const ir::Program& program, const Schedule& schedule, const Target& target,
                                  std::vector<std::string> remarks);

/// The assembly of the kernel, without the checks of arguments before it. Writes a file into `directory` and removes
/// it.
Result<std::string> kernel_assembly(const ir::Program& program, const Schedule& schedule, const Target& target,
                                    const std::filesystem::path& directory);

/// What the driver of a GPU target compiles: PTX, or OpenCL's C.
Result<std::string> device_code(const ir::Program& program, const Schedule& schedule, const Target& target);

/// Halide's runtime for a target as one relocatable object, for kernels made by compile_object.
Result<void> compile_runtime(const Target& target, const std::filesystem::path& object);

}  // namespace tile_tune::codegen
