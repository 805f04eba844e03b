// What NVIDIA's assembler makes of a kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

struct Assembled {
  std::string device;  // "sm_80"
  int registers = 0, stack_bytes = 0, spilled_bytes = 0;
  std::string error;  // what the assembler, or the compiler before it, says; empty if it was assembled
};

/// Where ptxas is: what $PTXAS names, in the toolkit's folder, or on the path; empty where there is none.
std::string ptxas();

struct Assembly {
  std::string said;   // with -v
  std::string cubin;  // empty if there is none
};
/// What ptxas() makes of PTX for sm_`capability`.
Assembly assemble(const std::string& ptx, int capability);

/// The kernels of a schedule assembled for sm_80, sm_86 and sm_90: of each device the most that one of them takes.
std::vector<Assembled> assembled(const ir::Program& program, const codegen::Schedule& schedule,
                                 const codegen::Target& target);

}  // namespace tile_tune::test
