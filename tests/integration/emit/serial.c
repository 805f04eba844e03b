/* Parallel loops without POSIX threads: what a context's own parallel_for is asked for; prints the first failure and
   returns 1. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tile_tune_rt.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      return 1;                                                       \
    }                                                                 \
  } while (0)

enum { SIZE = 10, FIRST = 3 };

struct pool {
  int count; /* what it was asked for; 0: nothing */
  int runs;  /* how many of these it does */
};

static void parallel_for(void* user, int count, void (*task)(void* state, int i), void* state) {
  struct pool* pool = user;
  pool->count = count;
  for (int i = 0; i < count && i < pool->runs; ++i) task(state, i);
}

static int mark(struct tile_tune_call* call, int i, uint8_t* closure) {
  (void)call;
  ++closure[i];
  return i == FIRST + SIZE ? 7 : TILE_TUNE_OK;
}

/* The pool's count, or -1 if not every iteration was done once. */
static int count_for(int threads, int size, int runs) {
  struct pool pool = {0, runs};
  struct tile_tune_context context = {.user = &pool, .parallel_for = parallel_for};
  struct tile_tune_call call = {&context, 1};
  uint8_t done[FIRST + SIZE] = {0};
  if (tile_tune_rt4_set_num_threads(&context, threads) != TILE_TUNE_OK) return -1;
  if (tile_tune_rt4_do_par_for(&call, mark, FIRST, size, done) != TILE_TUNE_OK) return -1;
  for (int i = 0; i < FIRST + SIZE; ++i)
    if (done[i] != (i >= FIRST && i < FIRST + size)) return -1;
  return pool.count;
}

int main(void) {
  CHECK(count_for(4, SIZE, INT_MAX) == 4);
  CHECK(count_for(4, 3, INT_MAX) == 3);
  CHECK(count_for(1, SIZE, INT_MAX) == 0);
  CHECK(count_for(4, 1, INT_MAX) == 0);
  CHECK(count_for(4, 0, INT_MAX) == 0);
  CHECK(count_for(INT_MAX, SIZE, INT_MAX) == SIZE);
  CHECK(count_for(0, SIZE, INT_MAX) == SIZE);
  CHECK(count_for(4, SIZE, 0) == 4); /* a pool that has no time */
  CHECK(count_for(4, SIZE, 2) == 4);

  struct tile_tune_context context = {.threads = 1};
  struct tile_tune_call call = {&context, 1};
  uint8_t done[FIRST + SIZE + 5] = {0};
  CHECK(tile_tune_rt4_do_par_for(&call, mark, FIRST, SIZE + 5, done) == 7); /* the rest is left */
  CHECK(done[FIRST + SIZE] == 1 && done[FIRST + SIZE + 1] == 0);
  return 0;
}
