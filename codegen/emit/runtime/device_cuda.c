/* Kernels through CUDA's driver: its library and the little that is used of its header. */
#if !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_cubin.h"
#include "device_cuda_constants.h"
#include "device_ptx.h"
#include "tile_tune_device.h"

/* What a kernel may have of shared memory without being asked (CUDA C++ Programming Guide, compute capabilities). */
enum { USUAL_SHARED_BYTES = 48 << 10 };

static struct {
  int (*Init)(unsigned);
  int (*DriverGetVersion)(int*);
  int (*DeviceGetCount)(int*);
  int (*DeviceGet)(int*, int);
  int (*DeviceGetName)(char*, int, int);
  int (*DeviceGetAttribute)(int*, int, int);
  int (*DeviceTotalMem)(size_t*, int);
  int (*DeviceGetPCIBusId)(char*, int, int);
  int (*DevicePrimaryCtxRetain)(void**, int);
  int (*DevicePrimaryCtxRelease)(int);
  int (*CtxGetCurrent)(void**);
  int (*CtxPushCurrent)(void*);
  int (*CtxPopCurrent)(void**);
  int (*CtxGetDevice)(int*);
  int (*CtxGetId)(void*, unsigned long long*);
  int (*StreamCreate)(void**, unsigned);
  int (*StreamDestroy)(void*);
  int (*StreamGetCtx)(void*, void**);
  int (*StreamGetId)(void*, unsigned long long*);
  int (*StreamSynchronize)(void*);
  int (*ThreadExchangeStreamCaptureMode)(int*);
  int (*EventCreate)(void**, unsigned);
  int (*EventRecord)(void*, void*);
  int (*EventSynchronize)(void*);
  int (*EventElapsedTime)(float*, void*, void*);
  int (*MemAlloc)(uint64_t*, size_t);
  int (*MemFree)(uint64_t);
  int (*MemcpyHtoDAsync)(uint64_t, const void*, size_t, void*);
  int (*MemcpyDtoHAsync)(void*, uint64_t, size_t, void*);
  int (*MemcpyDtoDAsync)(uint64_t, uint64_t, size_t, void*);
  int (*MemsetD8Async)(uint64_t, unsigned char, size_t, void*);
  int (*ModuleLoadDataEx)(void**, const void*, unsigned, int*, void**);
  int (*LinkCreate)(unsigned, int*, void**, void**);
  int (*LinkAddData)(void*, int, void*, size_t, const char*, unsigned, int*, void**);
  int (*LinkComplete)(void*, void**, size_t*);
  int (*LinkDestroy)(void*);
  int (*ModuleUnload)(void*);
  int (*ModuleGetFunction)(void**, void*, const char*);
  int (*FuncSetAttribute)(void*, int, int);
  int (*LaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                      void**);
  int (*GetErrorName)(int, const char**);
} cu;

#define FUNCTION(name) \
  { "cu" #name, (void**)&cu.name, 0 }
#define VERSION_2(name) \
  { "cu" #name "_v2", (void**)&cu.name, 0 }
#define NEW_FUNCTION(name) \
  { "cu" #name, (void**)&cu.name, 1 } /* of CUDA 12.0 */
static const struct tile_tune_device_symbol functions[] = {FUNCTION(Init),
                                                           FUNCTION(DriverGetVersion),
                                                           FUNCTION(DeviceGetCount),
                                                           FUNCTION(DeviceGet),
                                                           FUNCTION(DeviceGetName),
                                                           FUNCTION(DeviceGetAttribute),
                                                           VERSION_2(DeviceTotalMem),
                                                           FUNCTION(DeviceGetPCIBusId),
                                                           FUNCTION(DevicePrimaryCtxRetain),
                                                           VERSION_2(DevicePrimaryCtxRelease),
                                                           FUNCTION(CtxGetCurrent),
                                                           VERSION_2(CtxPushCurrent),
                                                           VERSION_2(CtxPopCurrent),
                                                           FUNCTION(CtxGetDevice),
                                                           NEW_FUNCTION(CtxGetId),
                                                           FUNCTION(StreamCreate),
                                                           VERSION_2(StreamDestroy),
                                                           FUNCTION(StreamGetCtx),
                                                           NEW_FUNCTION(StreamGetId),
                                                           FUNCTION(StreamSynchronize),
                                                           FUNCTION(ThreadExchangeStreamCaptureMode),
                                                           FUNCTION(EventCreate),
                                                           FUNCTION(EventRecord),
                                                           FUNCTION(EventSynchronize),
                                                           FUNCTION(EventElapsedTime),
                                                           VERSION_2(MemAlloc),
                                                           VERSION_2(MemFree),
                                                           VERSION_2(MemcpyHtoDAsync),
                                                           VERSION_2(MemcpyDtoHAsync),
                                                           VERSION_2(MemcpyDtoDAsync),
                                                           FUNCTION(MemsetD8Async),
                                                           FUNCTION(ModuleLoadDataEx),
                                                           VERSION_2(LinkCreate),
                                                           VERSION_2(LinkAddData),
                                                           FUNCTION(LinkComplete),
                                                           FUNCTION(LinkDestroy),
                                                           FUNCTION(ModuleUnload),
                                                           FUNCTION(ModuleGetFunction),
                                                           FUNCTION(FuncSetAttribute),
                                                           FUNCTION(LaunchKernel),
                                                           FUNCTION(GetErrorName)};
#undef FUNCTION
#undef VERSION_2
#undef NEW_FUNCTION

/* A kernel of an object, built for one context and size of blocks. */
struct module {
  struct module* next;
  const struct tile_tune_device_source* source;
  const char* entry; /* a constant of the object */
  int threads[3];
  uint64_t context_id;
  void *handle, *function;
  int shared_bytes; /* that it may have */
};
/* The context that a queue's work is done in, while it is current. */
struct scope {
  void* context;
  int is_pushed;
};

static struct module* modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these and what follows */
enum { MOST_DEVICES = 64 };
static void* default_queues[MOST_DEVICES];
static int is_loaded;
static atomic_int lost;

/* cuda.h of these: "the process must be terminated and relaunched". */
static int loses_device(int error) {
  return error == CUDA_ERROR_ECC_UNCORRECTABLE || error == CUDA_ERROR_CONTAINED ||
         error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_LAUNCH_TIMEOUT || error == CUDA_ERROR_ASSERT ||
         (error >= CUDA_ERROR_HARDWARE_STACK_ERROR && error <= CUDA_ERROR_LAUNCH_FAILED) ||
         error == CUDA_ERROR_TENSOR_MEMORY_LEAK || error == CUDA_ERROR_MPS_CLIENT_TERMINATED ||
         error == CUDA_ERROR_EXTERNAL_DEVICE;
}

static int status_of(int error) {
  if (loses_device(error)) atomic_store(&lost, 1);
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return TILE_TUNE_ERROR_DEVICE_MEMORY;
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return TILE_TUNE_ERROR_NO_DRIVER;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return TILE_TUNE_ERROR_NO_DEVICE;
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
      return TILE_TUNE_ERROR_QUEUE;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return TILE_TUNE_ERROR_DEVICE_TOO_OLD;
    default:
      return TILE_TUNE_ERROR_LAUNCH;
  }
}

static const char* name_of(int error) {
  const char* name = NULL;
  return cu.GetErrorName(error, &name) == CUDA_SUCCESS && name != NULL ? name : "an unknown error";
}

/* While any stream is captured a thread may neither allocate nor load, nor give back, and what it tries ends the
 * capture, unless it says that this is nothing to a graph (cuda.h of cuThreadExchangeStreamCaptureMode): memory and
 * modules outlive the calls. The mode before, to be set again. */
static int begin_aside(void) {
  int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  return cu.ThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS ? mode : CU_STREAM_CAPTURE_MODE_GLOBAL;
}

static void end_aside(int mode) { cu.ThreadExchangeStreamCaptureMode(&mode); }

static int check(int error, const char* what) {
  if (error == CUDA_SUCCESS) return TILE_TUNE_OK;
  return tile_tune_device2_fail(status_of(error), "CUDA: %s failed with %s", what, name_of(error));
}

static int load(void) {
  if (is_loaded) return TILE_TUNE_OK;
  int status = tile_tune_device2_load("libcuda.so.1", functions, sizeof functions / sizeof *functions);
  if (status == TILE_TUNE_OK) status = check(cu.Init(0), "starting the driver");
  is_loaded = status == TILE_TUNE_OK;
  return status;
}

static int load_locked(void) {
  pthread_mutex_lock(&lock);
  const int status = load();
  pthread_mutex_unlock(&lock);
  return status;
}

static int is_of_current_context(void* queue) {
  return queue == NULL || queue == LEGACY_STREAM || queue == PER_THREAD_STREAM;
}

static int enter(void* queue, struct scope* scope) {
  void* current = NULL;
  int status = load_locked();
  if (status == TILE_TUNE_OK) status = check(cu.CtxGetCurrent(&current), "asking for the context");
  *scope = (struct scope){current, 0};
  if (status != TILE_TUNE_OK) return status;
  if (is_of_current_context(queue)) {
    if (current != NULL) return TILE_TUNE_OK;
    return tile_tune_device2_fail(TILE_TUNE_ERROR_NO_DEVICE,
                                  "CUDA: no context is current, and the null stream is one's of the current context");
  }
  status = check(cu.StreamGetCtx(queue, &scope->context), "asking a stream for its context");
  if (status != TILE_TUNE_OK || scope->context == current) return status;
  status = check(cu.CtxPushCurrent(scope->context), "making a stream's context current");
  scope->is_pushed = status == TILE_TUNE_OK;
  return status;
}

static int leave(const struct scope* scope, int status) {
  void* popped;
  if (!scope->is_pushed) return status;
  const int left = check(cu.CtxPopCurrent(&popped), "leaving a context");
  return status != TILE_TUNE_OK ? status : left;
}

/* Where the driver does not number contexts, one that is made after another's end may be taken for that. */
static uint64_t context_id(void* context) {
  unsigned long long id;
  return cu.CtxGetId != NULL && cu.CtxGetId(context, &id) == CUDA_SUCCESS ? id : (uint64_t)(uintptr_t)context;
}

static int identify(void* queue, uint64_t* queue_id) {
  static _Thread_local char this_thread;
  struct scope scope;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  unsigned long long id;
  /* cuda.h does not say that the null streams of two contexts have two numbers. */
  if (cu.StreamGetId != NULL && cu.StreamGetId(queue, &id) == CUDA_SUCCESS)
    *queue_id = is_of_current_context(queue) ? id ^ context_id(scope.context) << 48 : id;
  else if (queue == PER_THREAD_STREAM)
    *queue_id = (uint64_t)(uintptr_t)&this_thread;
  else
    *queue_id = is_of_current_context(queue) ? context_id(scope.context) : (uint64_t)(uintptr_t)queue;
  return leave(&scope, TILE_TUNE_OK);
}

static int32_t attribute(int device, int which) {
  int value = 0;
  return cu.DeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static int capability_of(int device) {
  return 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

/* The lock is held. */
static int find_device(int number, int* device) {
  int count = 0;
  int status = load();
  if (status == TILE_TUNE_OK) status = check(cu.DeviceGetCount(&count), "counting devices");
  if (status != TILE_TUNE_OK) return status;
  if (number < 0 || number >= count || number >= MOST_DEVICES)
    return tile_tune_device2_fail(TILE_TUNE_ERROR_NO_DEVICE, "CUDA: there is no device %d (there are %d)", number,
                                  count);
  return check(cu.DeviceGet(device, number), "finding a device");
}

static int describe(int number, struct tile_tune_device_facts* facts) {
  int device, version = 0;
  memset(facts, 0, sizeof *facts);
  pthread_mutex_lock(&lock);
  const int status = find_device(number, &device);
  pthread_mutex_unlock(&lock);
  if (status != TILE_TUNE_OK) return status;
  cu.DeviceGetName(facts->name, sizeof facts->name - 1, device);
  cu.DriverGetVersion(&version);
  snprintf(facts->driver, sizeof facts->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
  facts->capability = capability_of(device);
  facts->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts->block_threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts->warp_threads = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  facts->block_shared_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts->multiprocessor_shared_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts->multiprocessor_registers = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts->multiprocessor_threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts->cache_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  size_t bytes = 0;
  if (cu.DeviceTotalMem(&bytes, device) == CUDA_SUCCESS) facts->memory_bytes = (int64_t)bytes;
  facts->has_doubles = facts->has_halves = 1;
  facts->megahertz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  if (cu.DeviceGetPCIBusId(facts->bus_id, sizeof facts->bus_id, device) != CUDA_SUCCESS) facts->bus_id[0] = '\0';
  return TILE_TUNE_OK;
}

/* The context is the one that CUDA's runtime has for the device. */
static int make_queue(int device, void** queue) {
  void *context, *popped;
  int status = check(cu.DevicePrimaryCtxRetain(&context, device), "taking a device's context");
  if (status != TILE_TUNE_OK) return status;
  status = check(cu.CtxPushCurrent(context), "making a context current");
  if (status == TILE_TUNE_OK) {
    status = check(cu.StreamCreate(queue, CU_STREAM_NON_BLOCKING), "making a stream");
    cu.CtxPopCurrent(&popped);
  }
  if (status != TILE_TUNE_OK) cu.DevicePrimaryCtxRelease(device);
  return status;
}

static int default_queue(int number, void** queue) {
  int device = 0, status = TILE_TUNE_OK;
  pthread_mutex_lock(&lock);
  if (number < 0 || number >= MOST_DEVICES || default_queues[number] == NULL) {
    status = find_device(number, &device);
    if (status == TILE_TUNE_OK) status = make_queue(device, &default_queues[number]);
  }
  if (status == TILE_TUNE_OK) *queue = default_queues[number];
  pthread_mutex_unlock(&lock);
  return status;
}

static int allocate(void* queue, uint64_t bytes, uint64_t* memory) {
  struct scope scope;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  const int mode = begin_aside(), error = cu.MemAlloc(memory, bytes);
  end_aside(mode);
  if (error != CUDA_SUCCESS)
    status = tile_tune_device2_fail(status_of(error), "CUDA: no memory of %llu bytes: %s", (unsigned long long)bytes,
                                    name_of(error));
  return leave(&scope, status);
}

static int release(void* queue, uint64_t memory) {
  struct scope scope;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  const int mode = begin_aside();
  status = check(cu.MemFree(memory), "giving memory back");
  end_aside(mode);
  return leave(&scope, status);
}

static int finish(void* queue) {
  struct scope scope;
  const int status = enter(queue, &scope);
  return status != TILE_TUNE_OK ? status : leave(&scope, check(cu.StreamSynchronize(queue), "waiting for kernels"));
}

static int upload(void* queue, uint64_t memory, const void* host, uint64_t bytes) {
  struct scope scope;
  const int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  return leave(&scope, check(cu.MemcpyHtoDAsync(memory, host, bytes, queue), "copying to a device"));
}

static int download(void* queue, uint64_t memory, void* host, uint64_t bytes) {
  struct scope scope;
  const int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  const int copied = check(cu.MemcpyDtoHAsync(host, memory, bytes, queue), "copying from a device");
  return leave(&scope, copied != TILE_TUNE_OK
                           ? copied
                           : check(cu.StreamSynchronize(queue), "copying from a device, after the kernels before,"));
}

static int forget(void* queue) {
  struct scope scope;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  const uint64_t id = context_id(scope.context);
  const int mode = begin_aside();
  int device = -1;
  pthread_mutex_lock(&lock);
  for (struct module** link = &modules; *link != NULL;) {
    struct module* const module = *link;
    if (module->context_id != id) {
      link = &module->next;
      continue;
    }
    *link = module->next;
    if (status == TILE_TUNE_OK) status = check(cu.ModuleUnload(module->handle), "unloading a module");
    free(module);
  }
  for (int number = 0; number < MOST_DEVICES && queue != NULL; ++number)
    if (default_queues[number] == queue && cu.CtxGetDevice(&device) == CUDA_SUCCESS) default_queues[number] = NULL;
  pthread_mutex_unlock(&lock);
  end_aside(mode);
  if (device >= 0) cu.StreamDestroy(queue);
  status = leave(&scope, status);
  if (device >= 0) cu.DevicePrimaryCtxRelease(device);
  return status;
}

static int fill(void* queue, uint64_t memory, int byte, uint64_t bytes) {
  struct scope scope;
  const int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  return leave(&scope, check(cu.MemsetD8Async(memory, (unsigned char)byte, bytes, queue), "filling memory"));
}

static int copy(void* queue, uint64_t from, uint64_t to, uint64_t bytes) {
  struct scope scope;
  const int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  return leave(&scope, check(cu.MemcpyDtoDAsync(to, from, bytes, queue), "copying on a device"));
}

static int mark(void* queue, void** point) {
  struct scope scope;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  if (*point == NULL) status = check(cu.EventCreate(point, 0), "making an event");
  return leave(&scope,
               status != TILE_TUNE_OK ? status : check(cu.EventRecord(*point, queue), "marking a point in time"));
}

static int time_between(void* queue, void* begin, void* end, double* ns) {
  struct scope scope;
  float milliseconds = 0;
  int status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  status = check(cu.EventSynchronize(end), "waiting for kernels");
  if (status == TILE_TUNE_OK) status = check(cu.EventElapsedTime(&milliseconds, begin, end), "asking for a time");
  *ns = 1e6 * (double)milliseconds;
  return leave(&scope, status);
}

/* A kernel that reads another device's memory takes the device from the whole process. */
static int check_number(void* queue, int number) {
  struct scope scope;
  int own = -1, given = -1, status = enter(queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  status = check(cu.CtxGetDevice(&own), "asking for the device");
  if (status == TILE_TUNE_OK && (cu.DeviceGet(&given, number) != CUDA_SUCCESS || given != own))
    status = tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE, "CUDA: a tensor lies on device %d, the stream is another's",
                                    number);
  return leave(&scope, status);
}

static int is_lost(void) { return atomic_load(&lost); }

/* From dlpack.h. */
enum { DL_CUDA = 2 };

static const struct tile_tune_device_interface interface = {
    DL_CUDA, describe, default_queue, identify, allocate, release,      upload,  download,
    finish,  forget,   fill,          copy,     mark,     time_between, is_lost, check_number};

const struct tile_tune_device_interface* tile_tune_device2_cuda_interface(void) { return &interface; }

int tile_tune_device2_cuda_initialize(struct tile_tune_device_call* call, void** state, const char* text, int size) {
  (void)call;
  return tile_tune_device2_take_source(state, text, size);
}

void tile_tune_device2_cuda_finalize(struct tile_tune_device_call* call, void* state) { (void)call, (void)state; }

static int check_capability(const struct tile_tune_device_source* source) {
  int device = 0;
  const int status = check(cu.CtxGetDevice(&device), "asking for the device");
  if (status != TILE_TUNE_OK) return status;
  const int has = capability_of(device), needs = tile_tune_device2_ptx_capability(source->text, source->size);
  if (has >= needs) return TILE_TUNE_OK;
  return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_TOO_OLD,
                                "CUDA: the device has compute capability %d.%d, kernels were made for %d.%d", has / 10,
                                has % 10, needs / 10, needs % 10);
}

/* Of a kernel that shall leave room for several of its blocks on a multiprocessor: its name says so. */
static int resident_blocks(const char* entry) {
  static const char kMark[] = "_resident";
  const char* const mark = strstr(entry, kMark);
  const int blocks = mark != NULL ? atoi(mark + sizeof kMark - 1) : 0;
  return blocks > 0 ? blocks : 0;
}

/* By way of the folder of compiled kernels, where there is one. The lock is held; whether it worked. */
static int load_kept(void** module, char* text) {
  const char* const folder = tile_tune_device2_cubin_folder();
  int device = 0, version = 0;
  if (folder == NULL || cu.CtxGetDevice(&device) != CUDA_SUCCESS || cu.DriverGetVersion(&version) != CUDA_SUCCESS)
    return 0;
  const struct tile_tune_device_cubin_key key = {text, capability_of(device), version};
  size_t size = 0;
  void *const kept = tile_tune_device2_find_cubin(folder, &key, &size), *link = NULL, *binary = NULL;
  int is_loaded = kept != NULL && cu.ModuleLoadDataEx(module, kept, 0, NULL, NULL) == CUDA_SUCCESS;
  free(kept);
  if (is_loaded || cu.LinkCreate(0, NULL, NULL, &link) != CUDA_SUCCESS) return is_loaded;
  is_loaded = cu.LinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "kernel", 0, NULL, NULL) == CUDA_SUCCESS &&
              cu.LinkComplete(link, &binary, &size) == CUDA_SUCCESS &&
              cu.ModuleLoadDataEx(module, binary, 0, NULL, NULL) == CUDA_SUCCESS;
  if (is_loaded) tile_tune_device2_keep_cubin(folder, &key, binary, size);
  cu.LinkDestroy(link);
  return is_loaded;
}

static int build(struct module* module) {
  static char log[8192]; /* the lock is held */
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)(uintptr_t)(sizeof log - 1)};
  int status = check_capability(module->source);
  if (status != TILE_TUNE_OK) return status;
  char* const text = tile_tune_device2_bounded_ptx(module->source->text, module->source->size, module->entry,
                                                   module->threads, resident_blocks(module->entry));
  if (text == NULL)
    return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_BUILD, "CUDA: there is no kernel %s", module->entry);
  log[0] = '\0';
  int error = CUDA_SUCCESS;
  if (!load_kept(&module->handle, text))
    error = cu.ModuleLoadDataEx(&module->handle, text, sizeof options / sizeof *options, options, values);
  free(text);
  if (error == CUDA_SUCCESS && (error = cu.ModuleGetFunction(&module->function, module->handle, module->entry)) != 0)
    cu.ModuleUnload(module->handle);
  if (error == CUDA_SUCCESS) return TILE_TUNE_OK;
  status = status_of(error);
  if (status == TILE_TUNE_ERROR_LAUNCH) status = TILE_TUNE_ERROR_DEVICE_BUILD;
  return tile_tune_device2_fail(status, "CUDA: kernel %s does not compile (%s): %s", module->entry, name_of(error),
                                log);
}

/* The lock is held, here and in what follows; the context is current. */
static struct module* find_module(uint64_t id, const struct tile_tune_device_source* source, const char* entry,
                                  const int* threads) {
  struct module* module = modules;
  while (module != NULL && (module->context_id != id || module->source != source || strcmp(module->entry, entry) != 0 ||
                            memcmp(module->threads, threads, sizeof module->threads) != 0))
    module = module->next;
  return module;
}

static int make_module(uint64_t id, const struct tile_tune_device_source* source, const char* entry, const int* threads,
                       struct module** made) {
  struct module* const module = calloc(1, sizeof *module);
  if (module == NULL) return TILE_TUNE_ERROR_OUT_OF_MEMORY;
  *module = (struct module){
      .next = modules, .source = source, .entry = entry, .context_id = id, .shared_bytes = USUAL_SHARED_BYTES};
  memcpy(module->threads, threads, sizeof module->threads);
  const int status = build(module);
  if (status == TILE_TUNE_OK)
    *made = modules = module;
  else
    free(module);
  return status;
}

/* What a first call does: *module is made if it is null, and may have so much shared memory. */
static int make_ready(struct module** module, uint64_t id, const struct tile_tune_device_source* source,
                      const char* entry, const int* threads, int shared_bytes) {
  const int status = *module != NULL ? TILE_TUNE_OK : make_module(id, source, entry, threads, module);
  if (status != TILE_TUNE_OK || shared_bytes <= (*module)->shared_bytes) return status;
  const int error =
      cu.FuncSetAttribute((*module)->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes);
  if (error != CUDA_SUCCESS)
    return tile_tune_device2_fail(TILE_TUNE_ERROR_LAUNCH, "CUDA: kernel %s cannot have %d bytes of shared memory: %s",
                                  entry, shared_bytes, name_of(error));
  (*module)->shared_bytes = shared_bytes;
  return TILE_TUNE_OK;
}

int tile_tune_device2_cuda_run(struct tile_tune_device_call* call, void* state, const char* entry, int blocks_x,
                               int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z,
                               int shared_bytes, size_t sizes[], void* arguments[], int8_t is_buffer[]) {
  enum { MOST_ARGUMENTS = 1024 }; /* a kernel's may have 4,096 bytes, of which none is smaller than 4 */
  void* values[MOST_ARGUMENTS];
  int count = 0;
  struct scope scope;
  void* function = NULL;
  const int threads[] = {threads_x, threads_y, threads_z};
  if (blocks_x <= 0 || blocks_y <= 0 || blocks_z <= 0) return TILE_TUNE_OK; /* nothing is computed */
  for (; sizes[count] != 0; ++count) {
    if (count == MOST_ARGUMENTS)
      return tile_tune_device2_fail(TILE_TUNE_ERROR_LAUNCH, "CUDA: kernel %s has too many arguments", entry);
    values[count] = is_buffer[count] ? (void*)&((struct tile_tune_buffer*)arguments[count])->device : arguments[count];
  }
  int status = enter(call->queue, &scope);
  if (status != TILE_TUNE_OK) return status;
  const uint64_t id = context_id(scope.context);
  pthread_mutex_lock(&lock);
  struct module* module = find_module(id, state, entry, threads);
  if (module == NULL || shared_bytes > module->shared_bytes) {
    const int mode = begin_aside();
    status = make_ready(&module, id, state, entry, threads, shared_bytes);
    end_aside(mode);
  }
  if (status == TILE_TUNE_OK) function = module->function;
  pthread_mutex_unlock(&lock);
  const int error = status != TILE_TUNE_OK
                        ? CUDA_SUCCESS
                        : cu.LaunchKernel(function, (unsigned)blocks_x, (unsigned)blocks_y, (unsigned)blocks_z,
                                          (unsigned)threads_x, (unsigned)threads_y, (unsigned)threads_z,
                                          (unsigned)shared_bytes, call->queue, values, NULL);
  if (error != CUDA_SUCCESS)
    status = tile_tune_device2_fail(
        status_of(error) == TILE_TUNE_ERROR_QUEUE ? TILE_TUNE_ERROR_QUEUE : TILE_TUNE_ERROR_LAUNCH,
        "CUDA: kernel %s of %d x %d x %d blocks of %d x %d x %d threads with %d bytes of shared memory was not "
        "launched: "
        "%s",
        entry, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes, name_of(error));
  return leave(&scope, status);
}

#endif

typedef int tile_tune_device_cuda_is_no_empty_file;
