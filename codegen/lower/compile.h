// From a canonical, bound Program and a Schedule to object code; lower.h has the way. The border where Halide begins
// and ends: Halide::Error never leaves it (guard.h). Compiling may still abort the process (LLVM assertions), so only
// child processes call compile_* (search/workers).
//
// How what is compiled is called: codegen/backend/kernel_abi.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/backend/backend.h"
#include "codegen/lower/autoscheduler.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

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
