/* A CUDA driver without a device: it says what it was asked and computes nothing. Of cuda.h it has what
 * codegen/emit/runtime/device_cuda.c calls. Memory is the host's. With FAKE_CUDA_LOG in the environment calls go to
 * that file as well. */
#include "fake_cuda.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEVICES = 2, LOG = 1 << 20 };

struct context {
  int device;
};
struct stream {
  struct context* context;
  unsigned long long id;
};
struct module {
  char* text;
};
struct function {
  char name[256];
};
struct event {
  double ns; /* of the device's clock, which launches move */
};

static char calls[LOG], failing[64], module_text[1 << 20];
static size_t calls_size;
static int failure, capability = 80, capturing;
static _Thread_local int capture_mode; /* cuda.h: 0 global, 2 relaxed */
static long written_at;
static pid_t process; /* that started the driver: those that fork from it cannot use it */
static double kernel_ns = 1000, clock_ns;
static unsigned long long last_id = 100;
static struct context primary[DEVICES] = {{0}, {1}};
static _Thread_local struct context* stack[16];
static _Thread_local int depth;

const char* fake_cuda_calls(void) { return calls; }
const char* fake_cuda_module(void) { return module_text; }
void fake_cuda_set_capability(int value) { capability = value; }
void fake_cuda_capture(int is_capturing) { capturing = is_capturing; }
void fake_cuda_write_at(long offset) { written_at = offset; }
void fake_cuda_set_kernel_ns(double ns) { kernel_ns = ns; }
void fake_cuda_reset(void) {
  calls_size = 0;
  calls[0] = failing[0] = '\0';
}
void fake_cuda_fail(const char* function, int error) {
  snprintf(failing, sizeof failing, "%s", function);
  failure = error;
}

static int called(const char* function, const char* format, ...) {
  va_list arguments;
  char line[512];
  va_start(arguments, format);
  const int size = snprintf(line, sizeof line, "%s%s", function, format[0] ? " " : "");
  vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
  va_end(arguments);
  const int written = snprintf(calls + calls_size, LOG - calls_size, "%s\n", line);
  calls_size += calls_size + (size_t)written < LOG ? (size_t)written : 0;
  const char* path = getenv("FAKE_CUDA_LOG");
  FILE* file = path != NULL ? fopen(path, "a") : NULL;
  if (file != NULL) {
    fprintf(file, "%s\n", line);
    fclose(file);
  }
  if (process != 0 && process != getpid()) return 3; /* CUDA_ERROR_NOT_INITIALIZED */
  return strcmp(function, failing) == 0 ? failure : 0;
}

/* Of functions that no graph has a node for, */
static int outside_graphs(int error) {
  enum { CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900 };
  return error == 0 && capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : error;
}
/* and of those that are nothing to it if the thread says so. */
static int unsafe_in_graphs(int error) {
  enum { RELAXED = 2 };
  return capture_mode == RELAXED ? error : outside_graphs(error);
}

int cuInit(unsigned flags) {
  if (process == 0) process = getpid();
  return called("cuInit", "%u", flags);
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = DEVICES;
  return called("cuDeviceGetCount", "");
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return called("cuDeviceGet", "%d", number);
}
int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, (size_t)size, "Pretended %d", device);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  switch (attribute) { /* cuda.h's numbers; sizes are an A100's */
    case 13:           /* clock */
      return *value = 1980000, 0;
    case 38: /* last cache */
      return *value = 40 << 20, 0;
    case 39: /* threads of a multiprocessor */
      return *value = 2048, 0;
    case 75:
      return *value = capability / 10, 0;
    case 76:
      return *value = capability % 10, 0;
    case 81: /* shared memory of a multiprocessor */
      return *value = 164 << 10, 0;
    case 97: /* ... of a block */
      return *value = 163 << 10, 0;
    default:
      return *value = attribute, 0;
  }
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = 1 << 30;
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  snprintf(text, (size_t)size, "0000:%02X:00.0", 0x1b + device);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &primary[device];
  return called("cuDevicePrimaryCtxRetain", "%d", device);
}
int cuDevicePrimaryCtxRelease_v2(int device) { return called("cuDevicePrimaryCtxRelease", "%d", device); }
int cuCtxGetCurrent(void** context) {
  *context = depth > 0 ? stack[depth - 1] : NULL;
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  const int error = called("cuCtxPushCurrent", "%d", ((struct context*)context)->device);
  if (error == 0) stack[depth++] = context;
  return error;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = stack[--depth];
  return called("cuCtxPopCurrent", "");
}
int cuCtxGetDevice(int* device) {
  *device = depth > 0 ? stack[depth - 1]->device : -1;
  return depth > 0 ? 0 : 201;
}
int cuCtxGetId(void* context, unsigned long long* id) {
  *id = 1 + (unsigned long long)((struct context*)context)->device;
  return 0;
}
int cuStreamCreate(void** stream, unsigned flags) {
  struct stream* made = malloc(sizeof *made);
  *made = (struct stream){stack[depth - 1], ++last_id};
  *stream = made;
  return called("cuStreamCreate", "%u", flags);
}
int cuStreamDestroy_v2(void* stream) {
  free(stream);
  return called("cuStreamDestroy", "");
}
int cuStreamGetCtx(void* stream, void** context) {
  *context = ((struct stream*)stream)->context;
  return 0;
}
int cuStreamGetId(void* stream, unsigned long long* id) {
  *id = (uintptr_t)stream > 2 ? ((struct stream*)stream)->id : (uintptr_t)stream;
  return 0;
}
int cuStreamSynchronize(void* stream) {
  (void)stream;
  return outside_graphs(called("cuStreamSynchronize", ""));
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}
int cuMemAlloc_v2(uint64_t* memory, size_t bytes) {
  *memory = (uint64_t)(uintptr_t)calloc(1, bytes);
  return unsafe_in_graphs(called("cuMemAlloc", "%zu", bytes));
}
int cuMemFree_v2(uint64_t memory) {
  free((void*)(uintptr_t)memory);
  return outside_graphs(called("cuMemFree", ""));
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  (void)stream;
  memcpy((void*)(uintptr_t)to, from, bytes);
  return outside_graphs(called("cuMemcpyHtoDAsync", "%zu", bytes));
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  (void)stream;
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return outside_graphs(called("cuMemcpyDtoHAsync", "%zu", bytes));
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  (void)stream;
  memcpy((void*)(uintptr_t)to, (const void*)(uintptr_t)from, bytes);
  clock_ns += kernel_ns;
  return called("cuMemcpyDtoDAsync", "%zu", bytes);
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void* stream) {
  (void)stream;
  memset((void*)(uintptr_t)to, byte, bytes);
  return called("cuMemsetD8Async", "%d %zu", byte, bytes);
}
int cuEventCreate(void** event, unsigned flags) {
  *event = calloc(1, sizeof(struct event));
  return outside_graphs(called("cuEventCreate", "%u", flags));
}
int cuEventRecord(void* event, void* stream) {
  (void)stream;
  ((struct event*)event)->ns = clock_ns;
  return called("cuEventRecord", "");
}
int cuEventSynchronize(void* event) {
  (void)event;
  return outside_graphs(called("cuEventSynchronize", ""));
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = (float)((((struct event*)end)->ns - ((struct event*)begin)->ns) * 1e-6);
  return 0;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == 5) snprintf(values[i], 64, "ptxas says no");
  snprintf(module_text, sizeof module_text, "%s", (const char*)image);
  *module = malloc(sizeof(struct module));
  return unsafe_in_graphs(called("cuModuleLoadDataEx", "%u options", count));
}
int cuLinkCreate_v2(unsigned count, int* options, void** values, void** link) {
  (void)count, (void)options, (void)values;
  *link = calloc(1, 1 << 20);
  return unsafe_in_graphs(called("cuLinkCreate", ""));
}
int cuLinkAddData_v2(void* link, int type, void* text, size_t size, const char* name, unsigned count, int* options,
                     void** values) {
  (void)name, (void)count, (void)options, (void)values;
  snprintf(link, 1 << 20, "compiled\n%.*s", (int)size, (const char*)text);
  return called("cuLinkAddData", "%d", type);
}
int cuLinkComplete(void* link, void** binary, size_t* size) {
  *binary = link;
  *size = strlen(link) + 1;
  return called("cuLinkComplete", "");
}
int cuLinkDestroy(void* link) {
  free(link);
  return called("cuLinkDestroy", "");
}
int cuModuleUnload(void* module) {
  free(module);
  return outside_graphs(called("cuModuleUnload", ""));
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  struct function* made = malloc(sizeof *made);
  snprintf(made->name, sizeof made->name, "%s", name);
  *function = made;
  return called("cuModuleGetFunction", "%s", name);
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  return called("cuFuncSetAttribute", "%s %d %d", ((struct function*)function)->name, attribute, value);
}
int cuLaunchKernel(void* function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void* stream, void** arguments, void** extra) {
  (void)extra;
  const int is_probe = strncmp(((struct function*)function)->name, "fma_", 4) == 0;
  if (written_at != 0 && !is_probe) ((char*)*(void**)arguments[0])[written_at] = 1;
  clock_ns += kernel_ns;
  return called("cuLaunchKernel", "%s %ux%ux%u %ux%ux%u shared %u stream %s", ((struct function*)function)->name, bx,
                by, bz, tx, ty, tz, shared, stream == NULL ? "null" : "own");
}
int cuGetErrorName(int error, const char** name) {
  *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return 0;
}
