// Kernels of programs that nobody has scheduled yet, by Halide's automatic schedulers.
#pragma once

#include <string>

#include "Halide.h"
#include "codegen/lower/autoscheduler.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// The program's Funcs are as plain as they can be, its padded inputs copies with zeros around them. The scheduler's
/// plugin stands beside Halide's library; throws Halide::CompileError where it is missing, and the scheduler's own
/// errors.
Halide::Module autoscheduled_module(const ir::Program& program, AutoScheduler scheduler, const Target& target,
                                    const std::string& function);

}  // namespace tile_tune::codegen
