// Calls of the runtime as a kernel makes them. Its headers are C11, whose atomics C++20 has not.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Runs the indices from `min` on, `size` of them, with so many threads: each adds 1 to its place in counts[0..size)
/// and runs `inner` indices of a loop inside, whose sum of 1 + index is added to *inner_sum. The index `fails` (any
/// other: none) returns 77. The call's status.
int run_counted_loops(int threads, int min, int size, int inner, int fails, int* counts, long long* inner_sum);

/// The order in which a loop runs `size` indices from 0 where, of so many threads, the caller's parallel_for runs
/// number `first` before the others, one after the other.
void order_of_loop(int threads, int first, int size, int* order);

/// Takes so many bytes, writes all of them and the eight before and behind, and gives them back. The address; null:
/// refused.
const void* take_and_fill(unsigned long long bytes);

/// As kernels store past the caches: `bytes` from `from` + `first` to `to` + `offset`.
void stream_bytes(void* to, long long offset, const void* from, long long first, long long bytes);

/// Runs a loop of `size` indices in as many threads, none of which ends before all have begun; notes on which CPU each
/// began, and in which thread.
void places_of_loop(int size, int* cpus, int* threads);

#ifdef __cplusplus
}
#endif
