/* Parallel loops where the system has no POSIX threads (Windows, WebAssembly): by a context's own parallel_for, else one
 * iteration after the other. parallel.c is for all other systems. */
#include "tile_tune_rt.h"

#if defined(_WIN32) || defined(__wasm__)

struct job {
  struct tile_tune_call* call;
  int (*task)(struct tile_tune_call*, int, uint8_t*);
  uint8_t* closure;
  int min;
  atomic_int status;
};

static void run_one(void* state, int index) {
  struct job* job = state;
  int expected = TILE_TUNE_OK;
  const int status = job->task(job->call, job->min + index, job->closure);
  if (status != TILE_TUNE_OK) atomic_compare_exchange_strong(&job->status, &expected, status);
}

int tile_tune_rt1_do_par_for(struct tile_tune_call* call, int (*task)(struct tile_tune_call*, int, uint8_t*), int min,
                             int size, uint8_t* closure) {
  const struct tile_tune_context* context = call->context;
  struct job job = {.call = call, .task = task, .closure = closure, .min = min};
  if (size > 1 && context->parallel_for != NULL)
    context->parallel_for(context->user, size, run_one, &job);
  else
    for (int i = 0; i < size; ++i) run_one(&job, i);
  return atomic_load_explicit(&job.status, memory_order_relaxed);
}

#endif

typedef int tile_tune_serial_is_no_empty_file;
