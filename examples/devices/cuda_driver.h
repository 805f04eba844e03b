/* The few functions of CUDA's driver that the examples need for memory and a stream of their own, loaded when the
 * program runs: neither CUDA's toolkit nor a compiler for its language is needed. Programs that have the toolkit use
 * cudaMalloc, cudaStream_t and so on instead; both go together with the same entries. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_driver {
  int (*init)(unsigned);
  int (*device)(int*, int);
  int (*context)(void**, int);
  int (*make_current)(void*);
  int (*make_stream)(void**, unsigned);
  int (*wait)(void*);
  int (*allocate)(uint64_t*, size_t);
  int (*release)(uint64_t);
  int (*to_device)(uint64_t, const void*, size_t, void*);
  int (*to_host)(void*, uint64_t, size_t, void*);
};

/* Of device `number`, with a context that is current and a stream; 0 if there is none. */
static int cuda_open(struct cuda_driver* cuda, int number, void** stream) {
  struct {
    void* function;
    const char* name;
  } const wanted[] = {{&cuda->init, "cuInit"},
                      {&cuda->device, "cuDeviceGet"},
                      {&cuda->context, "cuDevicePrimaryCtxRetain"},
                      {&cuda->make_current, "cuCtxPushCurrent_v2"},
                      {&cuda->make_stream, "cuStreamCreate"},
                      {&cuda->wait, "cuStreamSynchronize"},
                      {&cuda->allocate, "cuMemAlloc_v2"},
                      {&cuda->release, "cuMemFree_v2"},
                      {&cuda->to_device, "cuMemcpyHtoDAsync_v2"},
                      {&cuda->to_host, "cuMemcpyDtoHAsync_v2"}};
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* context;
  int device;
  if (library == NULL) return 0;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i)
    if ((*(void**)wanted[i].function = dlsym(library, wanted[i].name)) == NULL) return 0;
  return cuda->init(0) == 0 && cuda->device(&device, number) == 0 && cuda->context(&context, device) == 0 &&
         cuda->make_current(context) == 0 && cuda->make_stream(stream, 1) == 0;
}

#endif
