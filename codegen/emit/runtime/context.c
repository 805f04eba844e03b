/* Contexts. */
#include <stdlib.h>

#include "tile_tune_rt.h"

struct tile_tune_context* tile_tune_rt4_context_create(void) {
  return calloc(1, sizeof(struct tile_tune_context));
}

void tile_tune_rt4_context_destroy(struct tile_tune_context* context) { free(context); }

int tile_tune_rt4_set_num_threads(struct tile_tune_context* context, int threads) {
  if (context == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  if (threads < 0) return TILE_TUNE_ERROR_INVALID_VALUE;
  atomic_store_explicit(&context->threads, threads, memory_order_relaxed);
  return TILE_TUNE_OK;
}

int tile_tune_rt4_set_parallel_for(struct tile_tune_context* context,
                                   void (*parallel_for)(void*, int, void (*)(void*, int), void*)) {
  if (context == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  context->parallel_for = parallel_for;
  return TILE_TUNE_OK;
}

int tile_tune_rt4_set_allocator(struct tile_tune_context* context, void* (*allocate)(void*, size_t),
                                void (*release)(void*, void*, size_t)) {
  if (context == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  if ((allocate == NULL) != (release == NULL)) return TILE_TUNE_ERROR_INVALID_VALUE;
  context->allocate = allocate;
  context->release = release;
  return TILE_TUNE_OK;
}

int tile_tune_rt4_set_user_data(struct tile_tune_context* context, void* user) {
  if (context == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  context->user = user;
  return TILE_TUNE_OK;
}

const char* tile_tune_rt4_error_string(int status) {
#define TILE_TUNE_TEXT(number, suffix, text) \
  case number:                               \
    return text;
  switch (status) {
    TILE_TUNE_STATUSES(TILE_TUNE_TEXT)
    default:
      return "unknown code";
  }
#undef TILE_TUNE_TEXT
}
