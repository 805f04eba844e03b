/* Are a caller's arguments what the kernel was compiled for? */
#include "tile_tune_rt.h"

int tile_tune_rt1_overlap(uintptr_t a, uint64_t a_bytes, uintptr_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/* Inputs may overlap each other; every pair with an output in it may not. */
int tile_tune_rt1_check_pointers(const struct tile_tune_signature* signature, void* const* pointers) {
  const struct tile_tune_argument* arguments = signature->arguments;
  for (int i = 0; i < signature->count; ++i) {
    const uintptr_t p = (uintptr_t)pointers[i];
    if (arguments[i].bytes == 0) continue;
    if (p == 0) return TILE_TUNE_ERROR_NULL_POINTER;
    if (p & (arguments[i].alignment - 1)) return TILE_TUNE_ERROR_MISALIGNED; /* a power of two */
    for (int j = 0; i >= signature->inputs && j < i; ++j)
      if (arguments[j].bytes != 0 &&
          tile_tune_rt1_overlap(p, arguments[i].bytes, (uintptr_t)pointers[j], arguments[j].bytes))
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

int tile_tune_rt1_check_tensors(const struct tile_tune_signature* signature, struct DLTensor* const* inputs,
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
