/* What OpenCL and CUDA have in common: the memory that queues keep, arguments that lie in host memory, messages. */
#if !defined(_WIN32) && !defined(__wasm__)
#include "tile_tune_device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile_tune_rt.h"

typedef const struct tile_tune_device_interface* device_interface;

static _Thread_local char message[1024];

const char* tile_tune_device2_message(void) { return message; }

int tile_tune_device2_fail(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return status;
}

int tile_tune_device2_load(const char* library, const struct tile_tune_device_symbol* symbols, int count) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return tile_tune_device2_fail(TILE_TUNE_ERROR_NO_DRIVER, "%s", dlerror());
  for (int i = 0; i < count; ++i) {
    *symbols[i].function = dlsym(handle, symbols[i].name);
    if (*symbols[i].function == NULL && !symbols[i].is_optional)
      return tile_tune_device2_fail(TILE_TUNE_ERROR_DEVICE_TOO_OLD, "%s lacks %s", library, symbols[i].name);
  }
  return TILE_TUNE_OK;
}

/* The memory that queues keep. A piece is handed out for its own size only: a call asks for the same sizes as the one
 * before, so that it finds them all. */
struct piece {
  struct piece* next;
  uint64_t bytes, memory;
  int is_lent;
};
struct store {
  struct store* next;
  device_interface device;
  uint64_t queue_id;
  struct piece* pieces;
};
static struct store* stores;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int out_of_host_memory(void) {
  return tile_tune_device2_fail(TILE_TUNE_ERROR_OUT_OF_MEMORY, "out of memory on the host");
}

int tile_tune_device2_take_source(void** state, const char* text, int size) {
  pthread_mutex_lock(&lock);
  struct tile_tune_device_source* source = *state;
  if (source == NULL && (source = malloc(sizeof *source)) != NULL) {
    *source = (struct tile_tune_device_source){text, size};
    *state = source;
  }
  pthread_mutex_unlock(&lock);
  return source != NULL ? TILE_TUNE_OK : out_of_host_memory();
}

static struct store* find_store(device_interface device, uint64_t queue_id) {
  for (struct store* store = stores; store != NULL; store = store->next)
    if (store->device == device && store->queue_id == queue_id) return store;
  return NULL;
}

static struct store* store_of(device_interface device, uint64_t queue_id) {
  struct store* store = find_store(device, queue_id);
  if (store != NULL || (store = calloc(1, sizeof *store)) == NULL) return store;
  store->device = device;
  store->queue_id = queue_id;
  store->next = stores;
  return stores = store;
}

int tile_tune_device2_borrow(device_interface device, void* queue, uint64_t bytes, uint64_t* memory) {
  enum { GRAIN = 256 };
  uint64_t queue_id;
  int status = device->identify(queue, &queue_id);
  if (status != TILE_TUNE_OK) return status;
  bytes = (bytes + (bytes == 0) + GRAIN - 1) / GRAIN * GRAIN;
  pthread_mutex_lock(&lock);
  struct store* store = store_of(device, queue_id);
  struct piece* piece = store != NULL ? store->pieces : NULL;
  while (piece != NULL && (piece->is_lent || piece->bytes != bytes)) piece = piece->next;
  if (piece != NULL) {
    piece->is_lent = 1;
    *memory = piece->memory;
  } else if (store == NULL || (piece = malloc(sizeof *piece)) == NULL) {
    status = out_of_host_memory();
  } else if ((status = device->allocate(queue, bytes, memory)) != TILE_TUNE_OK) {
    *memory = 0; /* whatever the driver left there */
    free(piece);
  } else {
    *piece = (struct piece){store->pieces, bytes, *memory, 1};
    store->pieces = piece;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

void tile_tune_device2_give_back(device_interface device, void* queue, uint64_t memory) {
  uint64_t queue_id;
  if (memory == 0 || device->identify(queue, &queue_id) != TILE_TUNE_OK) return;
  pthread_mutex_lock(&lock);
  struct store* const store = find_store(device, queue_id);
  struct piece* piece = store != NULL ? store->pieces : NULL;
  while (piece != NULL && piece->memory != memory) piece = piece->next;
  if (piece != NULL) piece->is_lent = 0;
  pthread_mutex_unlock(&lock);
}

int tile_tune_device2_release(device_interface device, void* queue) {
  uint64_t queue_id;
  int status = device->identify(queue, &queue_id);
  if (status == TILE_TUNE_OK) status = device->finish(queue);
  if (status != TILE_TUNE_OK) return status;
  pthread_mutex_lock(&lock);
  struct store** link = &stores;
  while (*link != NULL && ((*link)->device != device || (*link)->queue_id != queue_id)) link = &(*link)->next;
  struct store* const store = *link;
  if (store != NULL) *link = store->next;
  pthread_mutex_unlock(&lock);
  for (struct piece *piece = store != NULL ? store->pieces : NULL, *next; piece != NULL; piece = next) {
    next = piece->next;
    const int released = device->release(queue, piece->memory);
    if (status == TILE_TUNE_OK) status = released;
    free(piece);
  }
  free(store);
  const int forgotten = device->forget(queue);
  return status != TILE_TUNE_OK ? status : forgotten;
}

/* Copies may still read what the caller changes or frees next. The message stays that of the error. */
static void finish_after_error(device_interface device, void* queue) {
  char first[sizeof message];
  memcpy(first, message, sizeof message);
  device->finish(queue);
  memcpy(message, first, sizeof message);
}

int tile_tune_device2_stage(device_interface device, void* queue, const struct tile_tune_device_argument* arguments,
                            int count, uint64_t* memory) {
  int status = TILE_TUNE_OK, staged = 0;
  for (; staged < count && status == TILE_TUNE_OK; ++staged) {
    const struct tile_tune_device_argument* a = &arguments[staged];
    memory[staged] = 0;
    status = tile_tune_device2_borrow(device, queue, a->bytes, &memory[staged]);
    if (status == TILE_TUNE_OK && a->bytes > 0 && (!a->is_output || a->is_read))
      status = device->upload(queue, memory[staged], a->host, a->bytes);
  }
  if (status != TILE_TUNE_OK) tile_tune_device2_unstage(device, queue, arguments, staged, memory, status);
  return status;
}

int tile_tune_device2_unstage(device_interface device, void* queue, const struct tile_tune_device_argument* arguments,
                              int count, const uint64_t* memory, int status) {
  for (int i = 0; i < count && status == TILE_TUNE_OK; ++i)
    if (arguments[i].is_output && arguments[i].bytes > 0)
      status = device->download(queue, memory[i], arguments[i].host, arguments[i].bytes);
  if (status != TILE_TUNE_OK) finish_after_error(device, queue);
  for (int i = 0; i < count; ++i) tile_tune_device2_give_back(device, queue, memory[i]);
  return status;
}

int tile_tune_device2_check_tensors(device_interface device, void* queue, const struct tile_tune_signature* signature,
                                    struct DLTensor* const* inputs, struct DLTensor* const* outputs, void** pointers) {
  int checked = 0; /* the number of the device before */
  for (int i = 0; i < signature->count; ++i) {
    struct DLTensor* const* const list = i < signature->inputs ? inputs : outputs;
    const struct DLTensor* const given = list != NULL ? list[i < signature->inputs ? i : i - signature->inputs] : NULL;
    if (given == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    enum { DL_CPU = 1, DL_OPENCL = 4 };
    if (given->device.type != device->dlpack_type) return TILE_TUNE_ERROR_DEVICE;
    if (given->device.type == DL_OPENCL && given->byte_offset != 0) return TILE_TUNE_ERROR_STRIDES; /* no address */
    if (device->check_number != NULL && (i == 0 || given->device.id != checked)) {
      checked = given->device.id;
      const int status = device->check_number(queue, checked);
      if (status != TILE_TUNE_OK) return status;
    }
    struct DLTensor tensor = *given;
    tensor.device.type = DL_CPU;
    struct DLTensor* const one[] = {&tensor};
    const struct tile_tune_signature alone = {&signature->arguments[i], 1, 1};
    const int status = tile_tune_rt4_check_tensors(&alone, one, NULL, &pointers[i]);
    if (status != TILE_TUNE_OK) return status;
  }
  return TILE_TUNE_OK;
}

int tile_tune_device2_malloc(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer,
                             device_interface device) {
  uint64_t elements = 1; /* what Halide makes is compact */
  if (buffer->device != 0) return TILE_TUNE_OK;
  for (int d = 0; d < buffer->dimensions; ++d) elements *= (uint64_t)buffer->dim[d].extent;
  const uint64_t bytes = elements * ((buffer->type.bits + 7u) / 8u) * buffer->type.lanes;
  const int status = tile_tune_device2_borrow(device, call->queue, bytes, &buffer->device);
  if (status == TILE_TUNE_OK) buffer->device_interface = device;
  return status;
}

int tile_tune_device2_free(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer) {
  if (buffer == NULL || buffer->device == 0) return TILE_TUNE_OK;
  tile_tune_device2_give_back(buffer->device_interface, call->queue, buffer->device);
  buffer->device = 0;
  buffer->device_interface = NULL;
  return TILE_TUNE_OK;
}

void tile_tune_device2_free_as_destructor(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer) {
  tile_tune_device2_free(call, buffer);
}

/* Everything is computed on the device, from arguments that lie there. */
int tile_tune_device2_copy_to_device(struct tile_tune_device_call* call, struct tile_tune_buffer* buffer,
                                     device_interface device) {
  (void)call, (void)device;
  if (buffer->device != 0) return TILE_TUNE_OK;
  return tile_tune_device2_fail(TILE_TUNE_ERROR_INTERNAL, "a tensor of the kernel is not on the device");
}

#endif

typedef int tile_tune_device_is_no_empty_file;
