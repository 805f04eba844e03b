#define _GNU_SOURCE
#include "loops.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "tile_tune_rt.h"

struct counted {
  int min, inner, fails;
  int* counts;
  atomic_llong inner_sum;
};

static int add_index(struct tile_tune_call* call, int index, uint8_t* closure) {
  (void)call;
  atomic_fetch_add((atomic_llong*)closure, 1 + index);
  return 0;
}

static int count_index(struct tile_tune_call* call, int index, uint8_t* closure) {
  struct counted* counted = (struct counted*)closure;
  if (index == counted->fails) return 77;
  counted->counts[index - counted->min] += 1;
  return tile_tune_rt4_do_par_for(call, add_index, 0, counted->inner, (uint8_t*)&counted->inner_sum);
}

int run_counted_loops(int threads, int min, int size, int inner, int fails, int* counts, long long* inner_sum) {
  struct tile_tune_context* context = tile_tune_rt4_context_create();
  tile_tune_rt4_set_num_threads(context, threads);
  struct tile_tune_call call = {context, 1};
  struct counted counted = {min, inner, fails, counts, 0};
  const int status = tile_tune_rt4_do_par_for(&call, count_index, min, size, (uint8_t*)&counted);
  *inner_sum = atomic_load(&counted.inner_sum);
  tile_tune_rt4_context_destroy(context);
  return status;
}

struct ordered {
  int* order;
  int count;
};

static int note_index(struct tile_tune_call* call, int index, uint8_t* closure) {
  (void)call;
  struct ordered* ordered = (struct ordered*)closure;
  ordered->order[ordered->count++] = index;
  return 0;
}

static void one_first(void* user, int count, void (*task)(void* state, int index), void* state) {
  const int first = *(const int*)user;
  for (int i = 0; i < count; ++i) task(state, (first + i) % count);
}

void order_of_loop(int threads, int first, int size, int* order) {
  struct tile_tune_context* context = tile_tune_rt4_context_create();
  tile_tune_rt4_set_num_threads(context, threads);
  tile_tune_rt4_set_user_data(context, &first);
  tile_tune_rt4_set_parallel_for(context, one_first);
  struct tile_tune_call call = {context, 1};
  struct ordered ordered = {order, 0};
  tile_tune_rt4_do_par_for(&call, note_index, 0, size, (uint8_t*)&ordered);
  tile_tune_rt4_context_destroy(context);
}

const void* take_and_fill(unsigned long long bytes) {
  struct tile_tune_context* context = tile_tune_rt4_context_create();
  struct tile_tune_call call = {context, 1};
  char* memory = tile_tune_rt4_malloc(&call, bytes);
  const void* address = memory;
  if (memory != NULL) {
    memset(memory, 1, bytes);
    volatile char around = memory[-8];
    around = memory[bytes + 7];
    (void)around;
    tile_tune_rt4_free(&call, memory);
  }
  tile_tune_rt4_context_destroy(context);
  return address;
}

struct placed {
  int size;
  atomic_int begun;
  int *cpus, *threads;
};

static int note_place_and_meet(struct tile_tune_call* call, int index, uint8_t* closure) {
  (void)call;
  struct placed* placed = (struct placed*)closure;
  placed->cpus[index] = sched_getcpu();
  placed->threads[index] = gettid();
  atomic_fetch_add(&placed->begun, 1);
  while (atomic_load(&placed->begun) < placed->size) sched_yield();
  return 0;
}

void places_of_loop(int size, int* cpus, int* threads) {
  struct tile_tune_context* context = tile_tune_rt4_context_create();
  tile_tune_rt4_set_num_threads(context, size);
  struct tile_tune_call call = {context, 1};
  struct placed placed = {size, 0, cpus, threads};
  tile_tune_rt4_do_par_for(&call, note_place_and_meet, 0, size, (uint8_t*)&placed);
  tile_tune_rt4_context_destroy(context);
}

void stream_bytes(void* to, long long offset, const void* from, long long first, long long bytes) {
  tile_tune_rt4_stream(to, offset, from, first, bytes);
  tile_tune_rt4_end_stream();
}
