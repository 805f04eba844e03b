// Roofline probes: what this machine's cores and memory can do at this moment.
//
// Written by hand with vector extensions, run by the same threads and in the same rounds as the kernels
// they are compared with (decision 20), so that a percentage of peak is a ratio within one round.
// Nothing here includes Halide.
#pragma once

#include <cstdint>
#include <functional>

#include "frontend/tensor/dtype.h"

namespace tile_tune::codegen {

/// Runs task(0) ... task(count - 1), each on a thread of its own, and returns when all are done.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& task)>;

/// Fused multiply-adds on independent register accumulators, widest vectors the CPU has (f32 or f64), or dot products
/// of pairs of bf16 or of fours of bytes where has_dot_probe(), of whole tiles where may_use_matrix_unit().
/// Returns operations (a multiplication and an addition are two) done by all threads; the caller times the call. An
/// iteration is 12 or 24 vector operations, whichever the register file holds, or the products of four tiles.
double fma_probe(DType type, int threads, int64_t iterations, const ParallelFor& parallel_for);

/// Whether this CPU has the dot-product instruction of BF16 or I8; false for every other type.
bool has_dot_probe(DType type);

/// How a thread walks memory: so many streams, each by so many cache lines before it is the next one's turn.
struct StreamForm {
  int64_t streams = 1, lines = 64;
};

/// As kernels that read one row, or several at once, do. Which is the fastest depends on the machine and the moment: of
/// 151 MB on two Zen 4 cores four streams by pages got 24 to 27 GB/s, eight by four lines 28.
inline constexpr StreamForm kStreamForms[] = {{1, 64}, {4, 64}, {2, 4}, {4, 4}, {8, 4}};

/// Streams `read_bytes` from `source` and `written_bytes` to `sink` with ordinary stores, interleaved in that
/// mix, split evenly over the threads. Returns bytes moved: whole cache lines of 64 bytes. `source` and `sink` are
/// aligned to 8 bytes.
double stream_probe(const void* source, int64_t read_bytes, void* sink, int64_t written_bytes, const StreamForm& form,
                    int threads, const ParallelFor& parallel_for);

}  // namespace tile_tune::codegen
