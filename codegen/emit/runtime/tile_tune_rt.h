/* What emitted libraries share: libtile_tune_rt.a, which their generated C is compiled against. Not installed.
 *
 * Kernels are compiled with Halide's user_context, here a struct tile_tune_call, and need three things of a runtime:
 * memory, parallel loops, and somebody to tell of errors. Halide's own runtime has one thread pool and one allocator
 * for the whole process, prints, aborts and reads the environment (21.0: 200 KB, 290 functions); none of it is linked.
 *
 * Names that the linker sees carry the number of this interface, 4. Whatever changes here changes the number, so that
 * libraries of two versions do not meet the wrong runtime in one program: they link both, or not at all. */
#ifndef TILE_TUNE_RT_H
#define TILE_TUNE_RT_H

#ifndef __cplusplus /* there <atomic> has it: before C++23 <stdatomic.h> is C alone */
#include <stdatomic.h>
#endif
#include <stddef.h>
#include <stdint.h>

#include "tile_tune_call.h"
#include "tile_tune_layouts.h"
#include "tile_tune_status.h"

/* Where the work of a call is done and its scratch memory comes from. All zero is the default: our own pool with one
 * thread for each CPU the calling thread may use, and memory that each thread keeps from call to call
 * (malloc and free on Windows and WebAssembly). */
struct tile_tune_context {
  atomic_int threads; /* 0: one for each CPU */
  void (*parallel_for)(void* user, int count, void (*task)(void* state, int index), void* state);
  void* (*allocate)(void* user, size_t bytes);
  void (*release)(void* user, void* memory, size_t bytes);
  void* user;
};

struct tile_tune_context* tile_tune_rt4_context_create(void);
void tile_tune_rt4_context_destroy(struct tile_tune_context* context);
int tile_tune_rt4_set_num_threads(struct tile_tune_context* context, int threads);
int tile_tune_rt4_set_parallel_for(struct tile_tune_context* context,
                                   void (*parallel_for)(void*, int, void (*)(void*, int), void*));
int tile_tune_rt4_set_allocator(struct tile_tune_context* context, void* (*allocate)(void*, size_t),
                                void (*release)(void*, void*, size_t));
int tile_tune_rt4_set_user_data(struct tile_tune_context* context, void* user);
const char* tile_tune_rt4_error_string(int status);

/* Halide's halide_malloc, halide_free, halide_do_par_for, halide_error_out_of_memory. */
void* tile_tune_rt4_malloc(struct tile_tune_call* call, size_t bytes);
void tile_tune_rt4_free(struct tile_tune_call* call, void* memory);
int tile_tune_rt4_do_par_for(struct tile_tune_call* call, int (*task)(struct tile_tune_call*, int, uint8_t*), int min,
                             int size, uint8_t* closure);
int tile_tune_rt4_out_of_memory(void);

/* What kernels call as tile_tune_stream and tile_tune_end_stream (codegen/lower/streaming.cpp): `bytes` from
 * `first` bytes behind `from` to `offset` bytes behind `to`, past the caches where the processor can. Other threads see
 * them after the end, which whoever takes part in a parallel loop comes to after its iterations. */
void tile_tune_rt4_stream(void* to, int64_t offset, const void* from, int64_t first, int64_t bytes);
void tile_tune_rt4_end_stream(void);

/* Gives back what the calling thread has kept. Not inside a call. */
void tile_tune_rt4_end_thread(void);

/* What a pointer of an entry must show. */
struct tile_tune_argument {
  uint64_t bytes;  /* from its first byte to its last */
  uint64_t before; /* of these, the ones before the pointer, where strides are negative */
  uint64_t alignment;
  struct tile_tune_type dtype; /* as DLPack has it */
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
};
struct tile_tune_signature {
  const struct tile_tune_argument* arguments; /* inputs, then outputs */
  int inputs;
  int count;
};

/* In tile_tune_argument.strides: one that the caller gives. */
#define TILE_TUNE_ANY_STRIDE INT64_MIN

/* The strides of a caller in place of the argument's, and Halide's dimensions with them, in this order; `parts`: 2 of
   complex elements. An error: another stride than one that is known, one that cannot be counted, elements of an output
   that may lie in one place. */
int tile_tune_rt4_take_strides(const int64_t* strides, const int* order, int parts, int is_output,
                               struct tile_tune_argument* argument, struct tile_tune_dimension* dimensions);

/* A null pointer, a misaligned one or an output over another argument is an error. */
int tile_tune_rt4_check_pointers(const struct tile_tune_signature* signature, void* const* pointers);

/* The pointers behind tensors that are what the signature says, unchecked themselves. */
int tile_tune_rt4_check_tensors(const struct tile_tune_signature* signature, struct DLTensor* const* inputs,
                                struct DLTensor* const* outputs, void** pointers);

/* Whether two stretches of memory have a byte in common. */
int tile_tune_rt4_overlap(uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes);

#endif
