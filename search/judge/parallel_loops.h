/* Parallel loops of kernels in a worker, on the thread pool that emitted libraries have. */
#ifndef TILE_TUNE_PARALLEL_LOOPS_H
#define TILE_TUNE_PARALLEL_LOOPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threads of every loop from now on, the caller's included. Not while a loop runs. */
void tile_tune_set_loop_threads(int threads);

/* Halide's halide_do_par_for (HalideRuntime.h): 0, or what the first task to fail returned. */
int tile_tune_parallel_loop(void* user_context, int (*task)(void*, int, uint8_t*), int min, int size, uint8_t* closure);

#ifdef __cplusplus
}
#endif

#endif
