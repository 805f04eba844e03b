// Runs a schedule on the OpenCL device of this machine, by Halide's own runtime, and judges it against the reference.
#pragma once

#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

/// The canonical program of a TC text at these sizes; throws what is wrong with it.
ir::Program gpu_program(const std::string& text, const ir::Sizes& sizes);

/// Whether this machine has an OpenCL device. What that builds is kept in a folder of this process's own.
bool has_opencl();

/// The target whose kernels that runs.
codegen::Target opencl_host();

/// What is wrong, or nothing.
std::string wrong_on_opencl(const ir::Program& program, const codegen::Schedule& schedule);

}  // namespace tile_tune::test
