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

/* Each thread's blocks are the key's value, not a variable of the thread's: macOS frees those before it calls us. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void free_blocks(void* blocks) {
  for (struct block* block = blocks; block != (struct block*)blocks + MOST_KEPT; ++block)
    if (!block->is_taken) free(block->memory);
  free(blocks);
}

static void make_key(void) { has_key = pthread_key_create(&key, free_blocks) == 0; }

/* A library that is unloaded is not called at the end of threads. What others than this one have kept is lost then. */
__attribute__((destructor)) static void forget_key(void) {
  if (!has_key) return;
  tile_tune_rt4_end_thread();
  pthread_key_delete(key);
  has_key = 0;
}

/* NULL: none, and there is no memory for them. */
static struct block* blocks_of_thread(void) {
  pthread_once(&once, make_key);
  if (!has_key) return NULL;
  struct block* blocks = pthread_getspecific(key);
  if (blocks != NULL) return blocks;
  blocks = calloc(MOST_KEPT, sizeof *blocks);
  if (blocks == NULL || pthread_setspecific(key, blocks) == 0) return blocks;
  free(blocks);
  return NULL;
}

void tile_tune_rt4_end_thread(void) {
  void* blocks = has_key ? pthread_getspecific(key) : NULL;
  if (blocks == NULL) return;
  pthread_setspecific(key, NULL);
  free_blocks(blocks);
}

static void* take(size_t bytes) {
  struct block *const blocks = blocks_of_thread(), *free_block = NULL;
  if (blocks == NULL) return malloc(bytes);
  for (struct block* block = blocks; block != blocks + MOST_KEPT; ++block) {
    if (block->is_taken) continue;
    if (block->memory != NULL && block->bytes >= bytes && block->bytes / 2 <= bytes) {
      block->is_taken = 1;
      return block->memory;
    }
    if (free_block == NULL || block->bytes < free_block->bytes) free_block = block;
  }
  void* const memory = malloc(bytes);
  if (memory == NULL) return NULL;
  /* What another thread has given back, against the rule, is not ours any more. */
  for (struct block* block = blocks; block != blocks + MOST_KEPT; ++block)
    if (block->memory == memory) *block = (struct block){NULL, 0, 0};
  if (free_block == NULL || bytes > LARGEST_KEPT) return memory;
  free(free_block->memory);
  *free_block = (struct block){memory, bytes, 1};
  return memory;
}

static void give_back(void* memory) {
  struct block* const blocks = has_key ? pthread_getspecific(key) : NULL;
  for (struct block* block = blocks; blocks != NULL && block != blocks + MOST_KEPT; ++block)
    if (block->memory == memory) {
      block->is_taken = 0;
      return;
    }
  free(memory);
}

#else
static void* take(size_t bytes) { return malloc(bytes); }
static void give_back(void* memory) { free(memory); }

void tile_tune_rt4_end_thread(void) {}
#endif

void* tile_tune_rt4_malloc(struct tile_tune_call* call, size_t bytes) {
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

void tile_tune_rt4_free(struct tile_tune_call* call, void* memory) {
  if (memory == NULL) return;
  const struct tile_tune_context* context = call->context;
  const struct origin origin = ((struct origin*)memory)[-1];
  if (context->release != NULL)
    context->release(context->user, origin.memory, origin.bytes);
  else
    give_back(origin.memory);
}

int tile_tune_rt4_out_of_memory(void) { return TILE_TUNE_ERROR_OUT_OF_MEMORY; }
