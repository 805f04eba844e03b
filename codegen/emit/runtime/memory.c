/* Scratch memory of calls: from a context's allocator, else from blocks that each thread keeps from call to call.
 *
 * What the C library has given back to the system it gets anew page by page: a product of 8 x 300 by 300 x 512 in bf16,
 * with a copy of 307 KB, took 26 us in one program and 96 in another with more on its heap (two Zen 4 cores,
 * 2026-11-27). Kernels give back what they took in the same thread. */
#include <stdlib.h>

#include "tile_tune_rt.h"

/* HalideRuntime.h asks for memory at the alignment of the widest vectors, of a size that is a multiple of it, with
 * eight bytes before and behind that may be read. Before ours lies what is needed to give it back. */
enum { ALIGNMENT = 64 };

struct origin {
  void* memory;
  size_t bytes;
};

#if !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>

/* Kernels have few intermediates at a time: those of the test suites' programs four at most. glibc, too, gives what is
 * larger back at once. */
enum { MOST_KEPT = 8, LARGEST_KEPT = 32 << 20 };

struct block {
  void* memory;
  size_t bytes;
  int is_taken;
};

static _Thread_local struct block kept[MOST_KEPT];
static _Thread_local int is_watched; /* by the key, which tells of the thread's end */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void free_kept(void* blocks) {
  for (struct block* block = blocks; block != (struct block*)blocks + MOST_KEPT; ++block) {
    if (block->is_taken) continue;
    free(block->memory);
    *block = (struct block){NULL, 0, 0};
  }
  is_watched = 0;
}

static void make_key(void) { has_key = pthread_key_create(&key, free_kept) == 0; }

/* A library that is unloaded is not called at the end of threads. */
__attribute__((destructor)) static void forget_key(void) {
  free_kept(kept);
  if (has_key) pthread_key_delete(key);
  has_key = 0;
}

static int watches_thread(void) {
  if (is_watched) return 1;
  pthread_once(&once, make_key);
  is_watched = has_key && pthread_setspecific(key, kept) == 0;
  return is_watched;
}

static void* take(size_t bytes) {
  struct block* free_block = NULL;
  for (struct block* block = kept; block != kept + MOST_KEPT; ++block) {
    if (block->is_taken) continue;
    if (block->memory != NULL && block->bytes >= bytes && block->bytes / 2 <= bytes) {
      block->is_taken = 1;
      return block->memory;
    }
    if (free_block == NULL || block->bytes < free_block->bytes) free_block = block;
  }
  void* const memory = malloc(bytes);
  if (memory == NULL || free_block == NULL || bytes > LARGEST_KEPT || !watches_thread()) return memory;
  free(free_block->memory);
  *free_block = (struct block){memory, bytes, 1};
  return memory;
}

static void give_back(void* memory) {
  for (struct block* block = kept; block != kept + MOST_KEPT; ++block)
    if (block->memory == memory) {
      block->is_taken = 0;
      return;
    }
  free(memory);
}

void tile_tune_rt2_end_thread(void) { free_kept(kept); }

#else
static void* take(size_t bytes) { return malloc(bytes); }
static void give_back(void* memory) { free(memory); }
#endif

void* tile_tune_rt2_malloc(struct tile_tune_call* call, size_t bytes) {
  const struct tile_tune_context* context = call->context;
  if (bytes > SIZE_MAX - 3 * ALIGNMENT) return NULL;
  const size_t total = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + 2 * ALIGNMENT;
  void* memory = context->allocate != NULL ? context->allocate(context->user, total) : take(total);
  if (memory == NULL) return NULL;
  struct origin* aligned =
      (struct origin*)(((uintptr_t)memory + sizeof(struct origin) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  aligned[-1] = (struct origin){memory, total};
  return aligned;
}

void tile_tune_rt2_free(struct tile_tune_call* call, void* memory) {
  if (memory == NULL) return;
  const struct tile_tune_context* context = call->context;
  const struct origin origin = ((struct origin*)memory)[-1];
  if (context->release != NULL)
    context->release(context->user, origin.memory, origin.bytes);
  else
    give_back(origin.memory);
}

int tile_tune_rt2_out_of_memory(void) { return TILE_TUNE_ERROR_OUT_OF_MEMORY; }
