/* Layouts of others: Halide 21's halide_buffer_t (HalideRuntime.h; tests/integration/emit compares) and DLPack's
 * DLTensor (dlpack.h 1.0), under names of our own so that neither header is needed. */
#ifndef TILE_TUNE_LAYOUTS_H
#define TILE_TUNE_LAYOUTS_H

#include <stdint.h>

struct tile_tune_dimension {
  int32_t min, extent, stride;
  uint32_t flags;
};
struct tile_tune_type {
  uint8_t code, bits;
  uint16_t lanes;
};
struct tile_tune_buffer {
  uint64_t device;
  const void* device_interface;
  uint8_t* host;
  uint64_t flags;
  struct tile_tune_type type;
  int32_t dimensions;
  struct tile_tune_dimension* dim;
  void* padding;
};
struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct tile_tune_type dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

#endif
