// How long a program would take at this moment if only arithmetic, or only memory, limited it.
#pragma once

#include <vector>

#include "codegen/target/probe.h"
#include "search/judge/guarded_buffer.h"
#include "search/judge/host_kernel.h"
#include "search/judge/reply.h"

namespace tile_tune::search {

/// Probes on the kernels' own threads, sized once: about as long as a call of the kernel, 1 to 20 ms.
class Roofline {
 public:
  Roofline(const ir::Program& program, const Runtime& runtime, double call_ns);
  /// Nanoseconds the program's FLOP take at the rate the FMA probe has now; 0 for a program whose arithmetic
  /// no probe knows: integers but for dot products of bytes.
  double flop_limit_ns();
  /// Nanoseconds its compulsory traffic takes at the rate of streams with the same mix and footprint; 0 without any.
  double stream_limit_ns();

 private:
  double run_fma(int64_t iterations);
  double run_streams(int64_t passes);
  void choose_streams(double wanted_ns);

  double flops_, read_bytes_, written_bytes_;
  DType type_;
  int threads_;
  codegen::ParallelFor parallel_for_;
  GuardedBuffer source_, sink_;
  codegen::StreamForm form_;
  int64_t iterations_ = 0, passes_ = 0;
};

/// The widest type of float that a program accumulates in; Bool if it has no such arithmetic.
DType widest_float(const ir::Program& program);

/// Whether a kernel looks more than 5 % faster than what limits it allows: no kernel is, so the probes were sized or
/// timed while something else kept the machine busy. `from_memory`: memory bandwidth limits the program at all.
bool beyond_roof(const Timing& timing, bool from_memory);

/// Drops the shares of rounds that are beyond a roof in this way: the probe was disturbed in them alone.
void keep_below_roof(Timing& timing, bool from_memory);

}  // namespace tile_tune::search
