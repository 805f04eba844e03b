// A compiler for tests: whatever the program, it makes a kernel that misbehaves as the schedule says.
#pragma once

#include <string>

#include "codegen/backend/backend.h"

namespace tile_tune::test {

/// The kernels are for doubling() programs: o = 2 * a.
enum class Behaviour {
  Good,
  AlsoGood,  // right, with other code
  Sluggish,  // right, and at least ten times slower than Good
  SegfaultInRun,
  AbortInCompile,
  NoSpaceInCompile,
  CompileDiagnostic,
  HangInCompile,  // after writing its process number to the marker
  HangInRun,      // the same
  WrongValue,     // one element differs by 1 %
  WriteBehind,    // one element behind the output
  WriteBefore,    // one element before it
  ReadBehind,     // one element behind the input
  ChangeInput,
  LeaveOneOut,      // the last element keeps what the buffer held
  MemoryInCompile,  // allocates until it fails, then throws std::bad_alloc
  MemoryInRun,      // allocates until it fails, then returns Halide's code for it
  ErrorCode,        // reports a message and returns -7
  WrongLater,       // right in the first hundred calls of a process
  CrashLater,       // the same
  BusyInCompile,    // takes 3 s of CPU time
  Long,             // right, in 400 ms
  LongFaster,       // right, in 200 ms
  LongWrongOfNan,   // right but where the input is NaN, in 150 ms
  LongSlower,       // right, in 900 ms
  LongBehind        // as LongWrongOfNan, in 400 ms
};

codegen::Schedule scheduled(Behaviour behaviour);

/// `marker`: where hanging processes leave their number.
codegen::Backend forced_backend(const std::string& marker);

}  // namespace tile_tune::test
