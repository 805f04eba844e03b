/* Parallel loops where the system has no POSIX threads (Windows, WebAssembly): by a context's own parallel_for, else
 * one iteration after the other. parallel.c is for all other systems. */
#include "tile_tune_rt.h"

#if defined(_WIN32) || defined(__wasm__)

struct job {
  struct tile_tune_call* call;
  int (*task)(struct tile_tune_call*, int, uint8_t*);
  uint8_t* closure;
  int min;
  unsigned size;
  atomic_uint next;
  atomic_int status;
};

/* Takes iterations until none is left, so that it makes no difference how many take part. */
static void take_part(void* state, int index) {
  (void)index;
  struct job* job = state;
  while (atomic_load_explicit(&job->status, memory_order_relaxed) == TILE_TUNE_OK) {
    const unsigned i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    if (i >= job->size) break;
    int expected = TILE_TUNE_OK;
    const int status = job->task(job->call, job->min + (int)i, job->closure);
    if (status != TILE_TUNE_OK) atomic_compare_exchange_strong(&job->status, &expected, status);
  }
  tile_tune_rt4_end_stream();
}

int tile_tune_rt4_do_par_for(struct tile_tune_call* call, int (*task)(struct tile_tune_call*, int, uint8_t*), int min,
                             int size, uint8_t* closure) {
  const struct tile_tune_context* context = call->context;
  if (size < 1) return TILE_TUNE_OK;
  const int limit = atomic_load_explicit(&context->threads, memory_order_relaxed);
  /* 0 is one for each CPU: how many there are, the context's pool knows and we do not. */
  const int threads = limit == 0 || limit > size ? size : limit;
  struct job job = {.call = call, .task = task, .closure = closure, .min = min, .size = (unsigned)size};
  if (threads > 1 && context->parallel_for != NULL) context->parallel_for(context->user, threads, take_part, &job);
  take_part(&job, 0); /* what nobody has done */
  return atomic_load_explicit(&job.status, memory_order_relaxed);
}

#endif

typedef int tile_tune_serial_is_no_empty_file;
