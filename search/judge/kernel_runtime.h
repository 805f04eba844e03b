/* What kernels in a worker call, of the runtime that emitted libraries have: the thread pool and scratch memory. */
#ifndef TILE_TUNE_KERNEL_RUNTIME_H
#define TILE_TUNE_KERNEL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threads of every loop from now on, the caller's included. Not while a loop runs. */
void tile_tune_set_loop_threads(int threads);

/* Halide's halide_do_par_for (HalideRuntime.h): 0, or what the first task to fail returned. */
int tile_tune_parallel_loop(void* user_context, int (*task)(void*, int, uint8_t*), int min, int size, uint8_t* closure);

/* Halide's halide_malloc and halide_free. */
void* tile_tune_take_memory(void* user_context, size_t bytes);
void tile_tune_give_memory_back(void* user_context, void* memory);

/* Whether memory is filled with signalling NaNs, of f32 and f64, before it is handed out: what nobody wrote then shows
 * in results, and in what lanes beyond them compute by the exception flags. */
void tile_tune_fill_memory(int fills);

/* tile_tune_rt4_stream and tile_tune_rt4_end_stream (tile_tune_rt.h). */
void tile_tune_stream(void* to, int64_t offset, const void* from, int64_t first, int64_t bytes);
void tile_tune_end_stream(void);

#ifdef __cplusplus
}
#endif

#endif
