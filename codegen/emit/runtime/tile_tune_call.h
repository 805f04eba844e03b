/* One call of a kernel: its user_context. */
#ifndef TILE_TUNE_CALL_H
#define TILE_TUNE_CALL_H

struct tile_tune_call {
  const struct tile_tune_context* context;
  int working; /* threads that work for it, the caller's included; so it begins with 1. Guarded by the pool's lock */
};

#endif
