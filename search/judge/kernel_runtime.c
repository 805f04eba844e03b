#include "search/judge/kernel_runtime.h"

#include "tile_tune_rt.h"

static struct tile_tune_context context;

struct loop {
  int (*task)(void*, int, uint8_t*);
  void* user_context;
  uint8_t* closure;
};

static int run(struct tile_tune_call* call, int index, uint8_t* state) {
  (void)call;
  const struct loop* loop = (const struct loop*)state;
  return loop->task(loop->user_context, index, loop->closure);
}

void tile_tune_set_loop_threads(int threads) { atomic_store(&context.threads, threads); }

int tile_tune_parallel_loop(void* user_context, int (*task)(void*, int, uint8_t*), int min, int size,
                            uint8_t* closure) {
  struct tile_tune_call call = {.context = &context, .working = 1};
  struct loop loop = {task, user_context, closure};
  return tile_tune_rt4_do_par_for(&call, run, min, size, (uint8_t*)&loop);
}

static atomic_int fills_memory;

void tile_tune_fill_memory(int fills) { atomic_store(&fills_memory, fills); }

void* tile_tune_take_memory(void* user_context, size_t bytes) {
  (void)user_context;
  struct tile_tune_call call = {.context = &context, .working = 1};
  uint64_t* const memory = tile_tune_rt4_malloc(&call, bytes);
  if (memory != NULL && atomic_load(&fills_memory))
    for (size_t i = 0; i < bytes / sizeof *memory; ++i) memory[i] = 0x7ff000017fa00001;
  return memory;
}

void tile_tune_give_memory_back(void* user_context, void* memory) {
  (void)user_context;
  struct tile_tune_call call = {.context = &context, .working = 1};
  tile_tune_rt4_free(&call, memory);
}

void tile_tune_stream(void* to, int64_t offset, const void* from, int64_t first, int64_t bytes) {
  tile_tune_rt4_stream(to, offset, from, first, bytes);
}

void tile_tune_end_stream(void) { tile_tune_rt4_end_stream(); }
