/* What callers in C know of <dlpack/dlpack.h>, as it lays it out. */
#pragma once

#include <stdint.h>

struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
