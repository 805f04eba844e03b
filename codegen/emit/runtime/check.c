/* Are a caller's arguments what the kernel was compiled for? */
#include "tile_tune_rt.h"

int tile_tune_rt4_overlap(uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

static int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Whether each dimension steps over all that dimensions with shorter steps reach. */
static int is_apart(const int64_t* strides, const int64_t* shape, int rank) {
  for (int d = 0; d < rank; ++d) {
    int64_t reached = 0;
    if (shape[d] == 1) continue;
    for (int other = 0; other < rank; ++other) {
      if (other == d || shape[other] == 1 || magnitude(strides[other]) > magnitude(strides[d])) continue;
      reached += magnitude(strides[other]) * (shape[other] - 1);
    }
    if (magnitude(strides[d]) <= reached) return 0;
  }
  return 1;
}

int tile_tune_rt4_take_strides(const int64_t* strides, const int* order, int parts, int is_output,
                               struct tile_tune_argument* argument, struct tile_tune_dimension* dimensions) {
  const int64_t* const shape = argument->shape;
  uint64_t before = 0, reached = 0;
  if (strides == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  for (int d = 0; d < argument->rank; ++d) {
    if (shape[d] == 1) continue;
    if (argument->strides[d] != TILE_TUNE_ANY_STRIDE && strides[d] != argument->strides[d])
      return TILE_TUNE_ERROR_STRIDES;
    if (strides[d] > INT32_MAX / parts || strides[d] < -(INT32_MAX / parts)) return TILE_TUNE_ERROR_STRIDES;
    const uint64_t length = (uint64_t)magnitude(strides[d]) * (uint64_t)(shape[d] - 1);
    if (strides[d] < 0) before += length;
    reached += length;
    if (reached > INT64_MAX / 64) return TILE_TUNE_ERROR_STRIDES;
  }
  if (is_output && !is_apart(strides, shape, argument->rank)) return TILE_TUNE_ERROR_STRIDES;
  argument->bytes = (reached + 1) * (argument->dtype.bits / 8);
  argument->before = before * (argument->dtype.bits / 8);
  if (parts == 2) *dimensions++ = (struct tile_tune_dimension){0, 2, 1, 0};
  for (int n = 0; n < argument->rank; ++n) {
    const int d = order[n];
    const int64_t stride = shape[d] == 1 ? argument->strides[d] : strides[d];
    dimensions[n] = (struct tile_tune_dimension){0, (int32_t)shape[d], (int32_t)(stride * parts), 0};
  }
  argument->strides = strides;
  return TILE_TUNE_OK;
}

/* Bytes from one of the slowest rows to the next, and that a row has from its first to its last element. */
static uint64_t pitch(const struct tile_tune_argument* a, uint64_t* row) {
  uint64_t farthest = 0, rows = 1;
  for (int d = 0; d < a->rank; ++d) {
    const uint64_t stride = (uint64_t)(a->strides[d] < 0 ? -a->strides[d] : a->strides[d]) * (a->dtype.bits / 8);
    if (a->shape[d] > 1 && stride >= farthest) farthest = stride, rows = (uint64_t)a->shape[d];
  }
  *row = a->bytes - farthest * (rows - 1);
  return farthest;
}

/* Neither is empty. Two blocks of columns of one matrix lie in the same stretch of memory, and have nothing in common.
 */
static int overlap(const struct tile_tune_argument* a, void* pointer_a, const struct tile_tune_argument* b,
                   void* pointer_b) {
  const uintptr_t first_a = (uintptr_t)pointer_a - a->before, first_b = (uintptr_t)pointer_b - b->before;
  if (!tile_tune_rt4_overlap(first_a, a->bytes, first_b, b->bytes)) return 0;
  uint64_t row_a, row_b;
  const uint64_t pitch_a = pitch(a, &row_a), pitch_b = pitch(b, &row_b);
  if (pitch_a != pitch_b || row_a + row_b > pitch_a) return 1;
  const uint64_t behind =
      first_b >= first_a ? (first_b - first_a) % pitch_a : (pitch_a - (first_a - first_b) % pitch_a) % pitch_a;
  return behind < row_a || behind + row_b > pitch_a;
}

/* Inputs may overlap each other; every pair with an output in it may not. */
int tile_tune_rt4_check_pointers(const struct tile_tune_signature* signature, void* const* pointers) {
  const struct tile_tune_argument* arguments = signature->arguments;
  for (int i = 0; i < signature->count; ++i) {
    const uintptr_t p = (uintptr_t)pointers[i];
    if (arguments[i].bytes == 0) continue;
    if (p == 0) return TILE_TUNE_ERROR_NULL_POINTER;
    if (p & (arguments[i].alignment - 1)) return TILE_TUNE_ERROR_MISALIGNED; /* a power of two */
    for (int j = 0; i >= signature->inputs && j < i; ++j)
      if (arguments[j].bytes != 0 && overlap(&arguments[i], pointers[i], &arguments[j], pointers[j]))
        return TILE_TUNE_ERROR_OVERLAP;
  }
  return TILE_TUNE_OK;
}

static int check_tensor(const struct DLTensor* t, const struct tile_tune_argument* a) {
  if (t->device.type != 1 /* kDLCPU */) return TILE_TUNE_ERROR_DEVICE;
  if (t->dtype.code != a->dtype.code || t->dtype.bits != a->dtype.bits || t->dtype.lanes != 1)
    return TILE_TUNE_ERROR_DTYPE;
  if (t->ndim != a->rank) return TILE_TUNE_ERROR_RANK;
  if (a->rank > 0 && t->shape == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
  for (int d = 0; d < a->rank; ++d)
    if (t->shape[d] != a->shape[d]) return TILE_TUNE_ERROR_SHAPE;
  /* Without strides a DLTensor is compact, last index fastest. A dimension of extent 1 or a tensor without elements may
     have any stride. */
  int64_t stride = 1;
  for (int d = a->rank - 1; d >= 0; --d) {
    const int64_t given = t->strides != NULL ? t->strides[d] : stride;
    if (a->bytes != 0 && a->shape[d] != 1 && given != a->strides[d]) return TILE_TUNE_ERROR_STRIDES;
    stride *= a->shape[d];
  }
  return TILE_TUNE_OK;
}

int tile_tune_rt4_check_tensors(const struct tile_tune_signature* signature, struct DLTensor* const* inputs,
                                struct DLTensor* const* outputs, void** pointers) {
  for (int i = 0; i < signature->count; ++i) {
    struct DLTensor* const* list = i < signature->inputs ? inputs : outputs;
    const struct DLTensor* t = list != NULL ? list[i < signature->inputs ? i : i - signature->inputs] : NULL;
    if (t == NULL) return TILE_TUNE_ERROR_NULL_POINTER;
    const int status = check_tensor(t, &signature->arguments[i]);
    if (status != TILE_TUNE_OK) return status;
    pointers[i] = t->data != NULL ? (uint8_t*)t->data + t->byte_offset : NULL;
  }
  return TILE_TUNE_OK;
}
