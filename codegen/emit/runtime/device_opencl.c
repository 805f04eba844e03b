/* Kernels through OpenCL, of any version: its library and the little that is used of its header. */
#if !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile_tune_device.h"

/* cl.h, 1.2: handles are pointers, cl_int is int32_t, cl_bool and cl_uint are uint32_t, other numbers uint64_t. */
enum {
  CL_SUCCESS = 0,
  CL_DEVICE_NOT_FOUND = -1,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_INVALID_COMMAND_QUEUE = -36,
  CL_PLATFORM_NOT_FOUND_KHR = -1001,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE = 0x1020,
  CL_DEVICE_MAX_CONSTANT_ARGS = 0x1021,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_NAME = 0x102B,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_QUEUE_CONTEXT = 0x1090,
  CL_QUEUE_DEVICE = 0x1091,
  CL_QUEUE_PROPERTIES = 0x1093,
  CL_PROGRAM_BUILD_LOG = 0x1183
};
static const uint64_t CL_DEVICE_TYPE_ALL = 0xFFFFFFFF, CL_QUEUE_OUT_OF_ORDER = 1, CL_MEM_READ_WRITE = 1,
                      CL_MEM_USE_HOST_PTR = 8, CL_MAP_READ_AND_WRITE = 3;

static struct {
  int32_t (*GetPlatformIDs)(uint32_t, void**, uint32_t*);
  int32_t (*GetDeviceIDs)(void*, uint64_t, uint32_t, void**, uint32_t*);
  int32_t (*GetDeviceInfo)(void*, uint32_t, size_t, void*, size_t*);
  void* (*CreateContext)(const intptr_t*, uint32_t, void* const*, void (*)(const char*, const void*, size_t, void*),
                         void*, int32_t*);
  void* (*CreateCommandQueue)(void*, void*, uint64_t, int32_t*);
  int32_t (*GetCommandQueueInfo)(void*, uint32_t, size_t, void*, size_t*);
  int32_t (*RetainCommandQueue)(void*);
  int32_t (*ReleaseCommandQueue)(void*);
  int32_t (*ReleaseContext)(void*);
  void* (*CreateBuffer)(void*, uint64_t, size_t, void*, int32_t*);
  int32_t (*ReleaseMemObject)(void*);
  void* (*CreateProgramWithSource)(void*, uint32_t, const char**, const size_t*, int32_t*);
  int32_t (*BuildProgram)(void*, uint32_t, void* const*, const char*, void (*)(void*, void*), void*);
  int32_t (*GetProgramBuildInfo)(void*, void*, uint32_t, size_t, void*, size_t*);
  int32_t (*ReleaseProgram)(void*);
  void* (*CreateKernel)(void*, const char*, int32_t*);
  int32_t (*ReleaseKernel)(void*);
  int32_t (*SetKernelArg)(void*, uint32_t, size_t, const void*);
  int32_t (*EnqueueNDRangeKernel)(void*, void*, uint32_t, const size_t*, const size_t*, const size_t*, uint32_t,
                                  void* const*, void**);
  int32_t (*EnqueueReadBuffer)(void*, void*, uint32_t, size_t, size_t, void*, uint32_t, void* const*, void**);
  int32_t (*EnqueueWriteBuffer)(void*, void*, uint32_t, size_t, size_t, const void*, uint32_t, void* const*, void**);
  int32_t (*EnqueueFillBuffer)(void*, void*, const void*, size_t, size_t, size_t, uint32_t, void* const*, void**);
  int32_t (*EnqueueCopyBuffer)(void*, void*, void*, size_t, size_t, size_t, uint32_t, void* const*, void**);
  void* (*EnqueueMapBuffer)(void*, void*, uint32_t, uint64_t, size_t, size_t, uint32_t, void* const*, void**, int32_t*);
  int32_t (*EnqueueUnmapMemObject)(void*, void*, void*, uint32_t, void* const*, void**);
  int32_t (*Finish)(void*);
} cl;

#define FUNCTION(name) \
  { "cl" #name, (void**)&cl.name, 0 }
static const struct tile_tune_device_symbol functions[] = {
    FUNCTION(GetPlatformIDs),        FUNCTION(GetDeviceIDs),
    FUNCTION(GetDeviceInfo),         FUNCTION(CreateContext),
    FUNCTION(CreateCommandQueue),    FUNCTION(GetCommandQueueInfo),
    FUNCTION(RetainCommandQueue),    FUNCTION(ReleaseCommandQueue),
    FUNCTION(ReleaseContext),        FUNCTION(CreateBuffer),
    FUNCTION(ReleaseMemObject),      FUNCTION(CreateProgramWithSource),
    FUNCTION(BuildProgram),          FUNCTION(GetProgramBuildInfo),
    FUNCTION(ReleaseProgram),        FUNCTION(CreateKernel),
    FUNCTION(ReleaseKernel),         FUNCTION(SetKernelArg),
    FUNCTION(EnqueueNDRangeKernel),  FUNCTION(EnqueueReadBuffer),
    FUNCTION(EnqueueWriteBuffer),    FUNCTION(EnqueueFillBuffer),
    FUNCTION(EnqueueCopyBuffer),     FUNCTION(EnqueueMapBuffer),
    FUNCTION(EnqueueUnmapMemObject), FUNCTION(Finish)};
#undef FUNCTION

struct kernel {
  struct kernel* next;
  const char* entry; /* a constant of the object */
  void* handle;
};
/* What was built of a source for the device of a queue in its context. */
struct program {
  struct program* next;
  const struct tile_tune_device_source* source;
  void *context, *device, *handle;
  struct kernel* kernels;
};
/* A queue is kept, so that no other has its address while we know it. */
struct queue {
  struct queue* next;
  void *handle, *context, *device;
};

static struct program* programs;
static struct queue* queues;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these, of kernels' arguments, and of what follows */
enum { MOST_DEVICES = 64 };
static void* default_queues[MOST_DEVICES];
static int is_loaded;

static int load(void) {
  if (is_loaded) return TILE_TUNE_OK;
  const int status = tile_tune_device2_load("libOpenCL.so.1", functions, sizeof functions / sizeof *functions);
  is_loaded = status == TILE_TUNE_OK;
  return status;
}

static int status_of(int32_t error) {
  switch (error) {
    case CL_DEVICE_NOT_FOUND:
    case CL_PLATFORM_NOT_FOUND_KHR:
      return TILE_TUNE_ERROR_NO_DEVICE;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return TILE_TUNE_ERROR_DEVICE_MEMORY;
    case CL_INVALID_COMMAND_QUEUE:
      return TILE_TUNE_ERROR_QUEUE;
    default:
      return TILE_TUNE_ERROR_LAUNCH;
  }
}

static int check(int32_t error, const char* what) {
  if (error == CL_SUCCESS) return TILE_TUNE_OK;
  return tile_tune_device2_fail(status_of(error), "OpenCL: %s failed with error %d", what, (int)error);
}

/* The lock is held. */
static int find_queue(void* handle, struct queue** found) {
  for (*found = queues; *found != NULL; *found = (*found)->next)
    if ((*found)->handle == handle) return TILE_TUNE_OK;
  if (handle == NULL) return tile_tune_device2_fail(TILE_TUNE_ERROR_QUEUE, "OpenCL: the queue is null");
  int status = load();
  if (status != TILE_TUNE_OK) return status;
  uint64_t properties = 0;
  struct queue* queue = malloc(sizeof *queue);
  if (queue == NULL) return tile_tune_device2_fail(TILE_TUNE_ERROR_OUT_OF_MEMORY, "out of memory on the host");
  queue->handle = handle;
  status =
      check(cl.GetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof(void*), &queue->context, NULL), "asking a queue");
  if (status == TILE_TUNE_OK)
    status =
        check(cl.GetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof(void*), &queue->device, NULL), "asking a queue");
  if (status == TILE_TUNE_OK)
    status = check(cl.GetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
                   "asking a queue");
  if (status == TILE_TUNE_OK && (properties & CL_QUEUE_OUT_OF_ORDER))
    status = tile_tune_device2_fail(TILE_TUNE_ERROR_QUEUE, "OpenCL: the queue runs its commands out of order");
  if (status == TILE_TUNE_OK) status = check(cl.RetainCommandQueue(handle), "keeping a queue");
  if (status != TILE_TUNE_OK) {
    free(queue);
    return status;
  }
  queue->next = queues;
  *found = queues = queue;
  return TILE_TUNE_OK;
}

static int queue_of(void* handle, struct queue* copy) {
  struct queue* found = NULL;
  pthread_mutex_lock(&lock);
  const int status = find_queue(handle, &found);
  if (status == TILE_TUNE_OK) *copy = *found;
  pthread_mutex_unlock(&lock);
  return status;
}

/* Device `number` of all devices of all platforms, in the loader's order. */
static int find_device(int number, void** device) {
  enum { MOST_PLATFORMS = 32 };
  void *platforms[MOST_PLATFORMS], *devices[MOST_DEVICES];
  uint32_t platform_count = 0;
  int status = load();
  if (status != TILE_TUNE_OK) return status;
  const int32_t error = cl.GetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count);
  if (error != CL_SUCCESS && error != CL_PLATFORM_NOT_FOUND_KHR) return check(error, "asking for platforms");
  if (error != CL_SUCCESS) platform_count = 0;
  if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
  int before = 0;
  for (uint32_t p = 0; p < platform_count && number >= 0 && number < MOST_DEVICES; ++p) {
    uint32_t count = 0;
    if (cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) != CL_SUCCESS) continue;
    if (count > MOST_DEVICES) count = MOST_DEVICES;
    if (number - before < (int)count) {
      *device = devices[number - before];
      return TILE_TUNE_OK;
    }
    before += (int)count;
  }
  return tile_tune_device2_fail(TILE_TUNE_ERROR_NO_DEVICE, "OpenCL: there is no device %d (there are %d)", number,
                                before);
}

static int64_t number_of(void* device, uint32_t what, size_t size) {
  uint64_t value = 0; /* the machines that this runs on store the low bytes first */
  return cl.GetDeviceInfo(device, what, size, &value, NULL) == CL_SUCCESS ? (int64_t)value : 0;
}

static int describe(int number, struct tile_tune_device_facts* facts) {
  static char extensions[16384];
  void* device;
  memset(facts, 0, sizeof *facts);
  pthread_mutex_lock(&lock);
  const int status = find_device(number, &device);
  if (status == TILE_TUNE_OK) {
    cl.GetDeviceInfo(device, CL_DEVICE_NAME, sizeof facts->name - 1, facts->name, NULL);
    cl.GetDeviceInfo(device, CL_DRIVER_VERSION, sizeof facts->driver - 1, facts->driver, NULL);
    facts->multiprocessors = (int32_t)number_of(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(uint32_t));
    facts->block_threads = (int32_t)number_of(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    facts->block_shared_bytes = number_of(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(uint64_t));
    facts->memory_bytes = number_of(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(uint64_t));
    facts->cache_bytes = number_of(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(uint64_t));
    if (cl.GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL) == CL_SUCCESS) {
      facts->has_doubles = strstr(extensions, "cl_khr_fp64") != NULL;
      facts->has_halves = strstr(extensions, "cl_khr_fp16") != NULL;
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static int make_queue(void* device, void** queue) {
  int32_t error = CL_SUCCESS;
  void* const context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return check(error, "making a context");
  *queue = cl.CreateCommandQueue(context, device, 0, &error);
  cl.ReleaseContext(context); /* the queue keeps it */
  return check(error, "making a queue");
}

static int default_queue(int number, void** queue) {
  void* device = NULL;
  pthread_mutex_lock(&lock);
  int status = TILE_TUNE_OK;
  if (number < 0 || number >= MOST_DEVICES || default_queues[number] == NULL) {
    status = find_device(number, &device);
    if (status == TILE_TUNE_OK) status = make_queue(device, &default_queues[number]);
  }
  if (status == TILE_TUNE_OK) *queue = default_queues[number];
  pthread_mutex_unlock(&lock);
  return status;
}

static int identify(void* handle, uint64_t* queue_id) {
  struct queue queue;
  *queue_id = (uint64_t)(uintptr_t)handle;
  return queue_of(handle, &queue);
}

static int make_memory(void* handle, uint64_t flags, void* host, uint64_t bytes, uint64_t* memory) {
  struct queue queue;
  int32_t error = CL_SUCCESS;
  const int status = queue_of(handle, &queue);
  if (status != TILE_TUNE_OK) return status;
  *memory = (uint64_t)(uintptr_t)cl.CreateBuffer(queue.context, CL_MEM_READ_WRITE | flags, bytes, host, &error);
  if (error == CL_SUCCESS) return TILE_TUNE_OK;
  return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_MEMORY, "OpenCL: no memory of %llu bytes (error %d)",
                                (unsigned long long)bytes, (int)error);
}

static void* memory_of(uint64_t memory) { return (void*)(uintptr_t)memory; }

static int allocate(void* queue, uint64_t bytes, uint64_t* memory) {
  return make_memory(queue, 0, NULL, bytes, memory);
}

static int release(void* queue, uint64_t memory) {
  (void)queue;
  return check(cl.ReleaseMemObject(memory_of(memory)), "giving memory back");
}

static int upload(void* queue, uint64_t memory, const void* host, uint64_t bytes) {
  return check(cl.EnqueueWriteBuffer(queue, memory_of(memory), 1, 0, bytes, host, 0, NULL, NULL),
               "copying to a device");
}

static int download(void* queue, uint64_t memory, void* host, uint64_t bytes) {
  return check(cl.EnqueueReadBuffer(queue, memory_of(memory), 1, 0, bytes, host, 0, NULL, NULL),
               "copying from a device, after the kernels before,");
}

static int finish(void* queue) { return check(cl.Finish(queue), "waiting for kernels"); }

static void drop_program(struct program* program) {
  for (struct kernel *kernel = program->kernels, *next; kernel != NULL; kernel = next) {
    next = kernel->next;
    cl.ReleaseKernel(kernel->handle);
    free(kernel);
  }
  cl.ReleaseProgram(program->handle);
  free(program);
}

static int is_used(void* context) {
  for (const struct queue* queue = queues; queue != NULL; queue = queue->next)
    if (queue->context == context) return 1;
  return 0;
}

static int forget(void* handle) {
  pthread_mutex_lock(&lock);
  struct queue** link = &queues;
  while (*link != NULL && (*link)->handle != handle) link = &(*link)->next;
  struct queue* const queue = *link;
  if (queue != NULL) {
    *link = queue->next;
    for (struct program** one = &programs; *one != NULL && !is_used(queue->context);) {
      struct program* const program = *one;
      if (program->context != queue->context) {
        one = &program->next;
        continue;
      }
      *one = program->next;
      drop_program(program);
    }
    for (int number = 0; number < MOST_DEVICES; ++number) {
      if (default_queues[number] != handle) continue;
      default_queues[number] = NULL;
      cl.ReleaseCommandQueue(handle);
    }
    cl.ReleaseCommandQueue(handle);
    free(queue);
  }
  pthread_mutex_unlock(&lock);
  return TILE_TUNE_OK;
}

static int fill(void* queue, uint64_t memory, int byte, uint64_t bytes) {
  const unsigned char pattern = (unsigned char)byte;
  return check(cl.EnqueueFillBuffer(queue, memory_of(memory), &pattern, 1, 0, bytes, 0, NULL, NULL), "filling memory");
}

static int copy(void* queue, uint64_t from, uint64_t to, uint64_t bytes) {
  return check(cl.EnqueueCopyBuffer(queue, memory_of(from), memory_of(to), 0, 0, bytes, 0, NULL, NULL),
               "copying on a device");
}

static int is_lost(void) { return 0; }

/* From dlpack.h. */
enum { DL_OPENCL = 4 };

/* Only queues that were made for it have a clock. */
static const struct tile_tune_device_interface interface = {
    DL_OPENCL, describe, default_queue, identify, allocate, release, upload,  download,
    finish,    forget,   fill,          copy,     NULL,     NULL,    is_lost, NULL};

const struct tile_tune_device_interface* tile_tune_device2_opencl_interface(void) { return &interface; }

int tile_tune_device2_opencl_wrap(void* queue, void* host, uint64_t bytes, uint64_t* memory) {
  return make_memory(queue, CL_MEM_USE_HOST_PTR, host, bytes, memory);
}

int tile_tune_device2_opencl_map(void* queue, uint64_t memory, uint64_t bytes) {
  int32_t error = CL_SUCCESS;
  cl.EnqueueMapBuffer(queue, memory_of(memory), 1, CL_MAP_READ_AND_WRITE, 0, bytes, 0, NULL, NULL, &error);
  return check(error, "showing memory to the host");
}

int tile_tune_device2_opencl_unmap(void* queue, uint64_t memory, void* host) {
  return check(cl.EnqueueUnmapMemObject(queue, memory_of(memory), host, 0, NULL, NULL), "taking memory from the host");
}

int tile_tune_device2_opencl_initialize(struct tile_tune_device_call* call, void** state, const char* text, int size) {
  (void)call;
  return tile_tune_device2_take_source(state, text, size);
}

void tile_tune_device2_opencl_finalize(struct tile_tune_device_call* call, void* state) { (void)call, (void)state; }

static int build(const struct queue* queue, struct program* program) {
  const struct tile_tune_device_source* const source = program->source;
  const char* const text = source->text;
  const char* const end = memchr(text, '\0', (size_t)source->size); /* Halide counts the zero behind it */
  const size_t size = end != NULL ? (size_t)(end - text) : (size_t)source->size;
  int32_t error = CL_SUCCESS;
  program->handle = cl.CreateProgramWithSource(queue->context, 1, (const char**)&text, &size, &error);
  if (error != CL_SUCCESS) return check(error, "taking a program");
  char options[128]; /* Halide's kernels ask where constant memory is */
  snprintf(options, sizeof options, "-D MAX_CONSTANT_BUFFER_SIZE=%lld -D MAX_CONSTANT_ARGS=%lld",
           (long long)number_of(queue->device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(uint64_t)),
           (long long)number_of(queue->device, CL_DEVICE_MAX_CONSTANT_ARGS, sizeof(uint32_t)));
  error = cl.BuildProgram(program->handle, 1, &queue->device, options, NULL, NULL);
  if (error == CL_SUCCESS) return TILE_TUNE_OK;
  static char log[8192]; /* the lock is held */
  log[0] = '\0';
  cl.GetProgramBuildInfo(program->handle, queue->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  cl.ReleaseProgram(program->handle);
  return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_BUILD, "OpenCL: kernels do not compile (error %d): %s",
                                (int)error, log);
}

static int find_program(const struct queue* queue, const struct tile_tune_device_source* source,
                        struct program** found) {
  for (*found = programs; *found != NULL; *found = (*found)->next)
    if ((*found)->source == source && (*found)->context == queue->context && (*found)->device == queue->device)
      return TILE_TUNE_OK;
  struct program* const program = calloc(1, sizeof *program);
  if (program == NULL) return TILE_TUNE_ERROR_OUT_OF_MEMORY;
  *program = (struct program){programs, source, queue->context, queue->device, NULL, NULL};
  const int status = build(queue, program);
  if (status == TILE_TUNE_OK)
    *found = programs = program;
  else
    free(program);
  return status;
}

static int find_kernel(const struct queue* queue, const struct tile_tune_device_source* source, const char* entry,
                       void** handle) {
  struct program* program = NULL;
  const int status = find_program(queue, source, &program);
  if (status != TILE_TUNE_OK) return status;
  for (const struct kernel* kernel = program->kernels; kernel != NULL; kernel = kernel->next)
    if (strcmp(kernel->entry, entry) == 0) return *handle = kernel->handle, TILE_TUNE_OK;
  int32_t error = CL_SUCCESS;
  struct kernel* const kernel = malloc(sizeof *kernel);
  if (kernel == NULL) return TILE_TUNE_ERROR_OUT_OF_MEMORY;
  *kernel = (struct kernel){program->kernels, entry, cl.CreateKernel(program->handle, entry, &error)};
  if (error != CL_SUCCESS) {
    free(kernel);
    return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_BUILD, "OpenCL: there is no kernel %s (error %d)", entry,
                                  (int)error);
  }
  program->kernels = kernel;
  *handle = kernel->handle;
  return TILE_TUNE_OK;
}

static int launch(void* queue, void* kernel, const size_t* blocks, const size_t* threads, int shared_bytes,
                  const size_t* sizes, void* const* arguments, const int8_t* is_buffer) {
  uint32_t i = 0;
  int32_t error = CL_SUCCESS;
  for (; sizes[i] != 0 && error == CL_SUCCESS; ++i) {
    void* const memory = is_buffer[i] ? memory_of(((const struct tile_tune_buffer*)arguments[i])->device) : NULL;
    error = is_buffer[i] ? cl.SetKernelArg(kernel, i, sizeof memory, &memory)
                         : cl.SetKernelArg(kernel, i, sizes[i], arguments[i]);
  }
  /* Behind them every kernel of Halide's has shared memory, of at least a byte. */
  if (error == CL_SUCCESS) error = cl.SetKernelArg(kernel, i, shared_bytes > 0 ? (size_t)shared_bytes : 1, NULL);
  const size_t global[] = {blocks[0] * threads[0], blocks[1] * threads[1], blocks[2] * threads[2]};
  if (error == CL_SUCCESS) error = cl.EnqueueNDRangeKernel(queue, kernel, 3, NULL, global, threads, 0, NULL, NULL);
  return error;
}

int tile_tune_device2_opencl_run(struct tile_tune_device_call* call, void* state, const char* entry, int blocks_x,
                                 int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z,
                                 int shared_bytes, size_t sizes[], void* arguments[], int8_t is_buffer[]) {
  struct queue* queue = NULL;
  void* kernel = NULL;
  int32_t error = CL_SUCCESS;
  const size_t blocks[] = {(size_t)blocks_x, (size_t)blocks_y, (size_t)blocks_z};
  const size_t threads[] = {(size_t)threads_x, (size_t)threads_y, (size_t)threads_z};
  if (blocks_x <= 0 || blocks_y <= 0 || blocks_z <= 0) return TILE_TUNE_OK; /* nothing is computed */
  pthread_mutex_lock(&lock);
  int status = find_queue(call->queue, &queue);
  if (status == TILE_TUNE_OK) status = find_kernel(queue, state, entry, &kernel);
  if (status == TILE_TUNE_OK)
    error = launch(call->queue, kernel, blocks, threads, shared_bytes, sizes, arguments, is_buffer);
  pthread_mutex_unlock(&lock);
  if (error == CL_SUCCESS) return status;
  return tile_tune_device2_fail(
      status_of(error) == TILE_TUNE_ERROR_QUEUE ? TILE_TUNE_ERROR_QUEUE : TILE_TUNE_ERROR_LAUNCH,
      "OpenCL: kernel %s of %d x %d x %d blocks of %d x %d x %d threads with %d bytes of "
      "shared memory was not launched (error %d)",
      entry, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, (int)error);
}

#endif

typedef int tile_tune_device_opencl_is_no_empty_file;
