#include "codegen/target/probe.h"

#include <algorithm>
#include <cstddef>

#include "codegen/target/matrix_unit.h"
#include "codegen/target/target.h"

// The vectors differ in width between the variants below, and none of them crosses this file's border.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tile_tune::codegen {
namespace {

// Latency of an FMA times FMAs a cycle is 4 x 2 on AMD Zen, at most 5 x 2 on Intel, 4 x 4 on Neoverse V: twelve
// chains are enough on x86, and twelve with two constants still fit the 16 registers of SSE and AVX2. AVX-512 and
// NEON have 32 registers: 24 chains. Each chain is a variable of its own: GCC 12 keeps the elements of an array in
// memory here (measured on Zen 4: 20 instead of 117 GFLOP/s a core).
#define TILE_TUNE_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define TILE_TUNE_12(X) TILE_TUNE_8(X) X(8) X(9) X(10) X(11)
#define TILE_TUNE_24(X) TILE_TUNE_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

/// One thread's share: `iterations` times one FMA on each chain. Returns FLOP.
using FmaLoop = double (*)(int64_t iterations);

// A macro because a function template does not inherit its caller's target attribute. The empty asm makes every
// chain's value observable in every iteration, so none of the arithmetic can be folded away. Values converge to 1:
// no overflow, no denormals.
#define TILE_TUNE_START(C) Vector chain##C = Vector{} + C;
#define TILE_TUNE_STEP(C)             \
  chain##C = chain##C * scale + step; \
  asm volatile("" : "+" TILE_TUNE_VECTOR_REGISTER(chain##C));
#define TILE_TUNE_FMA_LOOP(NAME, ATTRIBUTES, ELEMENT, BYTES, CHAINS)                \
  ATTRIBUTES double NAME(int64_t iterations) {                                      \
    typedef ELEMENT Vector __attribute__((vector_size(BYTES)));                     \
    const Vector scale = Vector{} + ELEMENT(0.75), step = Vector{} + ELEMENT(0.25); \
    TILE_TUNE_##CHAINS(TILE_TUNE_START) for (int64_t i = 0; i < iterations; ++i) {  \
      TILE_TUNE_##CHAINS(TILE_TUNE_STEP)                                            \
    }                                                                               \
    const size_t lanes = BYTES / sizeof(ELEMENT);                                   \
    return 2.0 * static_cast<double>(lanes * CHAINS * iterations);                  \
  }

// The same of an instruction that adds dot products of two zero vectors to its 16 lanes. The clock that heavy data
// would allow is the kernels' own affair: nothing here is faster than the instruction's throughput.
#define TILE_TUNE_DOT_START(C) Vector chain##C = {};
#define TILE_TUNE_DOT_STEP(C) asm volatile(TILE_TUNE_INSTRUCTION " %1, %1, %0" : "+v"(chain##C) : "v"(factor));
#define TILE_TUNE_DOT_LOOP(NAME, ATTRIBUTES, WIDTH)                                                                 \
  ATTRIBUTES double NAME(int64_t iterations) {                                                                      \
    typedef int Vector __attribute__((vector_size(64)));                                                            \
    const Vector factor = {};                                                                                       \
    TILE_TUNE_24(TILE_TUNE_DOT_START) for (int64_t i = 0; i < iterations; ++i) { TILE_TUNE_24(TILE_TUNE_DOT_STEP) } \
    return 2.0 * 16 * WIDTH * 24 * static_cast<double>(iterations);                                                 \
  }

#if defined(__x86_64__)
#define TILE_TUNE_INSTRUCTION "vdpbf16ps"
TILE_TUNE_DOT_LOOP(dot_bf16, __attribute__((target("avx512f,avx512bf16"))), 2)
#undef TILE_TUNE_INSTRUCTION
#define TILE_TUNE_INSTRUCTION "vpdpbusd"
TILE_TUNE_DOT_LOOP(dot_i8, __attribute__((target("avx512f,avx512vnni"))), 4)

// Products of whole tiles of zeros, into four tiles of sums by turns.
struct TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
};
#define TILE_TUNE_TILE_LOOP(NAME, INSTRUCTION, WIDTH)                                                        \
  __attribute__((target("amx-tile,amx-bf16,amx-int8"))) double NAME(int64_t iterations) {                    \
    const TileShapes shapes;                                                                                 \
    asm volatile("ldtilecfg %0" : : "m"(shapes));                                                            \
    asm volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3");                    \
    asm volatile("tilezero %tmm4\n\ttilezero %tmm5");                                                        \
    for (int64_t i = 0; i < iterations; ++i)                                                                 \
      asm volatile(INSTRUCTION " %tmm4, %tmm5, %tmm0\n\t" INSTRUCTION " %tmm4, %tmm5, %tmm1\n\t" INSTRUCTION \
                               " %tmm4, %tmm5, %tmm2\n\t" INSTRUCTION " %tmm4, %tmm5, %tmm3");               \
    asm volatile("tilerelease");                                                                             \
    return 2.0 * 16 * 16 * 16 * WIDTH * 4 * static_cast<double>(iterations);                                 \
  }
TILE_TUNE_TILE_LOOP(tiles_bf16, "tdpbf16ps", 2)
TILE_TUNE_TILE_LOOP(tiles_i8, "tdpbssd", 4)
#define TILE_TUNE_VECTOR_REGISTER "v"
TILE_TUNE_FMA_LOOP(fma_f32_avx512, __attribute__((target("avx512f"))), float, 64, 24)
TILE_TUNE_FMA_LOOP(fma_f64_avx512, __attribute__((target("avx512f"))), double, 64, 24)
TILE_TUNE_FMA_LOOP(fma_f32_avx2, __attribute__((target("avx2,fma"))), float, 32, 12)
TILE_TUNE_FMA_LOOP(fma_f64_avx2, __attribute__((target("avx2,fma"))), double, 32, 12)
// Without FMA instructions a multiplication and an addition each count as the one FLOP they are.
TILE_TUNE_FMA_LOOP(fma_f32_base, , float, 16, 12)
TILE_TUNE_FMA_LOOP(fma_f64_base, , double, 16, 12)
#else
#define TILE_TUNE_VECTOR_REGISTER "w"
TILE_TUNE_FMA_LOOP(fma_f32_base, , float, 16, 24)
TILE_TUNE_FMA_LOOP(fma_f64_base, , double, 16, 24)
#endif

FmaLoop widest_fma_loop(DType type) {
  const bool f64 = type == DType::F64;
#if defined(__x86_64__)
  if (has_dot_probe(type) && may_use_matrix_unit()) return type == DType::BF16 ? tiles_bf16 : tiles_i8;
  if (has_dot_probe(type)) return type == DType::BF16 ? dot_bf16 : dot_i8;
  if (__builtin_cpu_supports("avx512f")) return f64 ? fma_f64_avx512 : fma_f32_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return f64 ? fma_f64_avx2 : fma_f32_avx2;
#endif
  return f64 ? fma_f64_base : fma_f32_base;
}

// `lines` of each of `streams` streams that lie `stride` bytes apart, one stream after the other. Sums (integer adds,
// so that no data is slow) keep the loads alive; eight chains so that they never wait.
#define TILE_TUNE_SUM_START(C) Vector sum##C = {};
#define TILE_TUNE_SUM_STEP(C) sum##C += data[i + C];
#define TILE_TUNE_SUM_END(C) asm volatile("" : "+" TILE_TUNE_VECTOR_REGISTER(sum##C));
#define TILE_TUNE_READ_LINES(NAME, ATTRIBUTES, BYTES)                                       \
  ATTRIBUTES void NAME(const std::byte* from, int64_t lines, int streams, int64_t stride) { \
    typedef uint64_t Vector __attribute__((vector_size(BYTES), aligned(8), may_alias));     \
    const int64_t count = lines * (kLineBytes / BYTES);                                     \
    TILE_TUNE_8(TILE_TUNE_SUM_START)                                                        \
    for (int stream = 0; stream < streams; ++stream, from += stride) {                      \
      const Vector* data = reinterpret_cast<const Vector*>(from);                           \
      int64_t i = 0;                                                                        \
      for (; i + 8 <= count; i += 8) {                                                      \
        TILE_TUNE_8(TILE_TUNE_SUM_STEP)                                                     \
      }                                                                                     \
      for (; i < count; ++i) sum0 += data[i];                                               \
    }                                                                                       \
    TILE_TUNE_8(TILE_TUNE_SUM_END)                                                          \
  }
// Ordinary stores; the asm keeps the loop from becoming memset, which may choose non-temporal ones.
#define TILE_TUNE_WRITE_LINES(NAME, ATTRIBUTES, BYTES)                                  \
  ATTRIBUTES void NAME(std::byte* to, int64_t lines, int streams, int64_t stride) {     \
    typedef uint64_t Vector __attribute__((vector_size(BYTES), aligned(8), may_alias)); \
    Vector value = {};                                                                  \
    for (int stream = 0; stream < streams; ++stream, to += stride) {                    \
      Vector* data = reinterpret_cast<Vector*>(to);                                     \
      for (int64_t i = 0; i < lines * (kLineBytes / BYTES); ++i) {                      \
        asm volatile("" : "+" TILE_TUNE_VECTOR_REGISTER(value));                        \
        data[i] = value;                                                                \
      }                                                                                 \
    }                                                                                   \
  }

struct StreamLoops {
  void (*read)(const std::byte* from, int64_t lines, int streams, int64_t stride);
  void (*write)(std::byte* to, int64_t lines, int streams, int64_t stride);
};

#if defined(__x86_64__)
TILE_TUNE_READ_LINES(read_avx512, __attribute__((target("avx512f"))), 64)
TILE_TUNE_WRITE_LINES(write_avx512, __attribute__((target("avx512f"))), 64)
TILE_TUNE_READ_LINES(read_avx2, __attribute__((target("avx2"))), 32)
TILE_TUNE_WRITE_LINES(write_avx2, __attribute__((target("avx2"))), 32)
#endif
TILE_TUNE_READ_LINES(read_base, , 16)
TILE_TUNE_WRITE_LINES(write_base, , 16)

StreamLoops widest_stream_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {read_avx512, write_avx512};
  if (__builtin_cpu_supports("avx2")) return {read_avx2, write_avx2};
#endif
  return {read_base, write_base};
}

}  // namespace

bool has_dot_probe(DType type) {
#if defined(__x86_64__)
  if (type == DType::BF16) return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512f");
  if (type == DType::I8) return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512f");
#endif
  return false;
}

double fma_probe(DType type, int threads, int64_t iterations, const ParallelFor& parallel_for) {
  const FmaLoop loop = widest_fma_loop(type);
  double per_thread = 0;
  parallel_for(threads, [&](int thread) {
    const double flop = loop(iterations);
    if (thread == 0) per_thread = flop;
  });
  return per_thread * threads;
}

double stream_probe(const void* source, int64_t read_bytes, void* sink, int64_t written_bytes, const StreamForm& form,
                    int threads, const ParallelFor& parallel_for) {
  const StreamLoops loops = widest_stream_loops();
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(sink);
  const int64_t read_lines = read_bytes / kLineBytes, written_lines = written_bytes / kLineBytes;
  const int64_t parts = int64_t{threads} * form.streams;
  const int64_t reads = read_lines / parts, writes = written_lines / parts;  // of a part; few lines are left over
  const int64_t turns = std::max<int64_t>(1, std::max(reads, writes) / form.lines);
  const auto streams = static_cast<int>(form.streams);
  parallel_for(threads, [&](int thread) {
    const auto* mine = from + thread * form.streams * reads * kLineBytes;
    auto* my_sink = to + thread * form.streams * writes * kLineBytes;
    for (int64_t turn = 0, read = 0, written = 0; turn < turns; ++turn) {
      const int64_t read_end = reads * (turn + 1) / turns, write_end = writes * (turn + 1) / turns;
      loops.read(mine + read * kLineBytes, read_end - read, streams, reads * kLineBytes);
      loops.write(my_sink + written * kLineBytes, write_end - written, streams, writes * kLineBytes);
      read = read_end;
      written = write_end;
    }
    if (thread > 0) return;
    loops.read(from + parts * reads * kLineBytes, read_lines - parts * reads, 1, 0);
    loops.write(to + parts * writes * kLineBytes, written_lines - parts * writes, 1, 0);
  });
  return static_cast<double>((read_lines + written_lines) * kLineBytes);
}

}  // namespace tile_tune::codegen
