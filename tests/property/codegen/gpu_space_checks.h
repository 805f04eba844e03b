// What the space of GPU schedules hands out becomes kernels: right ones on OpenCL, and such as NVIDIA's assembler keeps
// in registers. Of several kinds of programs the default and so many random schedules each.
#pragma once

namespace tile_tune::test {

/// On small odd sizes, against the reference.
void check_right_on_opencl(int random);

/// For sm_80, sm_86 and sm_90: nothing of a default on the stack and nothing spilled, nor of `share` of all. Where
/// there is no ptxas it says so.
void check_assembled(int random, double share);

}  // namespace tile_tune::test
