// Whether a program is too large to be computed here, told before anything is allocated.
#pragma once

#include <filesystem>

#include "frontend/ir/program.h"

namespace tile_tune::engine {

/// What a command does with a program's arrays, of which each process and each check has copies of its own.
enum class Use {
  Reference,  // computes them in double with their bounds; the inputs are there already
  Run,        // gives them to a process that runs the kernel; the inputs are there already
  Build,      // lets a process judge the kernel
  Measure,    // the same, while another process is ready to time it
};

/// The most bytes at one time that the use of a bound program takes.
double bytes_needed(const ir::Program& program, Use use);

/// What is free: of the machine's memory, of each control group that this process is in and that has a limit, and of
/// this process's own limit. `root`: where /proc and /sys are.
double available_bytes(const std::filesystem::path& root = "/");

/// Refuses what needs more than is available. Class Failure, out-of-memory.
Result<void> check_memory(const ir::Program& program, Use use, double available = available_bytes());

/// What no command could run on any machine: check_countable(), unless no kernel is needed
/// (codegen/schedule/countable.h).
Result<void> check_extents(const ir::Program& program);

/// For kernels: what they cannot count, whatever the machine (codegen/schedule/countable.h), then check_memory().
Result<void> check_size(const ir::Program& program, Use use);

}  // namespace tile_tune::engine
