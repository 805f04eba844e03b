/* Kernels on devices, part of libtile_tune_rt.a: what objects that Halide compiles for OpenCL and CUDA call where its
 * runtime would be, and what entries, tests and the tuner need around them. Not installed.
 *
 * Drivers are loaded when the first of these functions is called: libOpenCL.so.1 (the ICD loader) and libcuda.so.1.
 * Nothing of them is needed to compile or link. Work goes into the caller's queue (a cl_command_queue whose commands
 * run in order, or a CUstream), in the context of that queue, and nothing waits for it. Modules are built once for a
 * context and kept, intermediate tensors come from memory that a queue keeps: a second call neither builds nor
 * allocates.
 *
 * Names that the linker sees carry the number of this interface, 2, as those of tile_tune_rt.h do. */
#ifndef TILE_TUNE_DEVICE_H
#define TILE_TUNE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "tile_tune_call.h"
#include "tile_tune_layouts.h"
#include "tile_tune_status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tile_tune_signature; /* tile_tune_rt.h */

/* One call of a kernel: its user_context, which the runtime of the host takes for its own. */
struct tile_tune_device_call {
  struct tile_tune_call call;
  void* queue;
};

/* What a device is like; 0 where the driver does not say. */
struct tile_tune_device_facts {
  char name[128];
  char driver[128];
  int32_t capability; /* CUDA: 80 for 8.0 */
  int32_t multiprocessors;
  int32_t block_threads; /* the most in a block (work-group) */
  int32_t warp_threads;
  int64_t block_shared_bytes; /* the most that a block may have */
  int64_t multiprocessor_shared_bytes, multiprocessor_registers, multiprocessor_threads;
  int64_t memory_bytes, cache_bytes;
  int32_t has_doubles, has_halves;
  int32_t megahertz; /* the most that its clock may have */
  char bus_id[32];   /* CUDA: "0000:1B:00.0", by which other libraries of NVIDIA's know it */
};

/* Memory is a cl_mem or a CUdeviceptr. All return a status (tile_tune_status.h); tile_tune_device2_message() says more
 * of one that is not OK. */
struct tile_tune_device_interface {
  int32_t dlpack_type; /* kDLOpenCL, kDLCUDA */
  int (*describe)(int number, struct tile_tune_device_facts* facts);
  /* A queue of the program's own on device `number`, always the same one. */
  int (*default_queue)(int number, void** queue);
  /* What tells queues apart, also one from another that was at its address before, and the context of one. */
  int (*identify)(void* queue, uint64_t* queue_id);
  int (*allocate)(void* queue, uint64_t bytes, uint64_t* memory);
  int (*release)(void* queue, uint64_t memory);
  /* In the order of the queue; download() waits for all that is in it. */
  int (*upload)(void* queue, uint64_t memory, const void* host, uint64_t bytes);
  int (*download)(void* queue, uint64_t memory, void* host, uint64_t bytes);
  int (*finish)(void* queue);
  /* Drops what is kept for the queue's context but memory; nothing of it may be running. */
  int (*forget)(void* queue);

  /* For those that measure. In the order of the queue: bytes of memory become `byte`, or those of other memory. */
  int (*fill)(void* queue, uint64_t memory, int byte, uint64_t bytes);
  int (*copy)(void* queue, uint64_t from, uint64_t to, uint64_t bytes);
  /* A point in the queue's work, made where *point is null and moved where it is not, and the time on the device from
   * one that has passed to another, which is waited for. Null: the driver has no clock of its own. */
  int (*mark)(void* queue, void** point);
  int (*time_between)(void* queue, void* begin, void* end, double* ns);
  /* Whether a kernel did what leaves the device to no other in this process: memory that is not there was touched. */
  int (*is_lost)(void);
  /* Whether memory of device `number`, as DLPack counts them, is the queue's. Null: nobody counts them. */
  int (*check_number)(void* queue, int number);
};

/* A sentence on the last error of this thread, with the kernel and what the driver said; "" if there was none. */
const char* tile_tune_device2_message(void);

/* Memory of at least so many bytes that the queue keeps: given back, it is handed out again to calls in the same queue,
 * whose work comes after what is in it now. */
int tile_tune_device2_borrow(const struct tile_tune_device_interface* device, void* queue, uint64_t bytes,
                             uint64_t* memory);
void tile_tune_device2_give_back(const struct tile_tune_device_interface* device, void* queue, uint64_t memory);
/* Frees what is kept for the queue, and the modules of its context. No call may be using it. */
int tile_tune_device2_release(const struct tile_tune_device_interface* device, void* queue);

/* What an entry hands to the kernel: arguments on the device of `queue`. */
struct tile_tune_device_argument {
  void* host;
  uint64_t bytes;
  int is_output;
  int is_read; /* an output that begins with what is on the host */
};
/* The memory of arguments in host memory: borrowed and filled. Nothing is left borrowed on an error. */
int tile_tune_device2_stage(const struct tile_tune_device_interface* device, void* queue,
                            const struct tile_tune_device_argument* arguments, int count, uint64_t* memory);
/* Copies outputs back if `status` is OK, waits, gives the memory back; returns the first error. */
int tile_tune_device2_unstage(const struct tile_tune_device_interface* device, void* queue,
                              const struct tile_tune_device_argument* arguments, int count, const uint64_t* memory,
                              int status);
/* As tile_tune_rt4_check_tensors(), of tensors on the queue's device. */
int tile_tune_device2_check_tensors(const struct tile_tune_device_interface* device, void* queue,
                                    const struct tile_tune_signature* signature, struct DLTensor* const* inputs,
                                    struct DLTensor* const* outputs, void** pointers);

/* Halide's halide_opencl_* and halide_cuda_*. */
const struct tile_tune_device_interface* tile_tune_device2_opencl_interface(void);
int tile_tune_device2_opencl_initialize(struct tile_tune_device_call* call, void** state, const char* source, int size);
int tile_tune_device2_opencl_run(struct tile_tune_device_call* call, void* state, const char* entry, int blocks_x,
                                 int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z,
                                 int shared_bytes, size_t sizes[], void* arguments[], int8_t is_buffer[]);
void tile_tune_device2_opencl_finalize(struct tile_tune_device_call* call, void* state);

const struct tile_tune_device_interface* tile_tune_device2_cuda_interface(void);
int tile_tune_device2_cuda_initialize(struct tile_tune_device_call* call, void** state, const char* source, int size);
int tile_tune_device2_cuda_run(struct tile_tune_device_call* call, void* state, const char* entry, int blocks_x,
                               int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z,
                               int shared_bytes, size_t sizes[], void* arguments[], int8_t is_buffer[]);
void tile_tune_device2_cuda_finalize(struct tile_tune_device_call* call, void* state);

/* Of OpenCL alone: memory that shows what lies at `host`, to be mapped while the host uses it. */
int tile_tune_device2_opencl_wrap(void* queue, void* host, uint64_t bytes, uint64_t* memory);
int tile_tune_device2_opencl_map(void* queue, uint64_t memory, uint64_t bytes);
int tile_tune_device2_opencl_unmap(void* queue, uint64_t memory, void* host);

/* Halide's halide_device_malloc, halide_device_free, halide_device_free_as_destructor, halide_copy_to_device. */
int tile_tune_device2_malloc(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer,
                             const struct tile_tune_device_interface* device);
int tile_tune_device2_free(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer);
void tile_tune_device2_free_as_destructor(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer);
int tile_tune_device2_copy_to_device(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer,
                                     const struct tile_tune_device_interface* device);

/* What objects call, by Halide's names. */
#define TILE_TUNE_DEVICE_FUNCTIONS(FUNCTION)                                       \
  FUNCTION(halide_opencl_device_interface, tile_tune_device2_opencl_interface)     \
  FUNCTION(halide_opencl_initialize_kernels, tile_tune_device2_opencl_initialize)  \
  FUNCTION(halide_opencl_run, tile_tune_device2_opencl_run)                        \
  FUNCTION(halide_opencl_finalize_kernels, tile_tune_device2_opencl_finalize)      \
  FUNCTION(halide_cuda_device_interface, tile_tune_device2_cuda_interface)         \
  FUNCTION(halide_cuda_initialize_kernels, tile_tune_device2_cuda_initialize)      \
  FUNCTION(halide_cuda_run, tile_tune_device2_cuda_run)                            \
  FUNCTION(halide_cuda_finalize_kernels, tile_tune_device2_cuda_finalize)          \
  FUNCTION(halide_device_malloc, tile_tune_device2_malloc)                         \
  FUNCTION(halide_device_free, tile_tune_device2_free)                             \
  FUNCTION(halide_device_free_as_destructor, tile_tune_device2_free_as_destructor) \
  FUNCTION(halide_copy_to_device, tile_tune_device2_copy_to_device)

/* For the files of the runtime that know a driver. */

/* What a kernel's object brought. */
struct tile_tune_device_source {
  const char* text;
  int size;
};
/* Halide's *state, null when an object is called for the first time, becomes its source, which stays for ever. */
int tile_tune_device2_take_source(void** state, const char* text, int size);
/* Keeps the sentence for tile_tune_device2_message() and returns the status. */
int tile_tune_device2_fail(int status, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* The functions of a driver's library by name, all or none; null: it is not here, or lacks one, as the message says. */
struct tile_tune_device_symbol {
  const char* name;
  void** function;
  int is_optional;
};
int tile_tune_device2_load(const char* library, const struct tile_tune_device_symbol* symbols, int count);

#ifdef __cplusplus
}
#endif

#endif
