// The generated C describes halide_buffer_t by itself; this compares its description with the SDK's.
#include <HalideRuntime.h>

#include <cstddef>

#include "codegen/emit/runtime/tile_tune_layouts.h"

static_assert(sizeof(tile_tune_buffer) == sizeof(halide_buffer_t));
static_assert(offsetof(tile_tune_buffer, device_interface) == offsetof(halide_buffer_t, device_interface));
static_assert(offsetof(tile_tune_buffer, host) == offsetof(halide_buffer_t, host));
static_assert(offsetof(tile_tune_buffer, flags) == offsetof(halide_buffer_t, flags));
static_assert(offsetof(tile_tune_buffer, type) == offsetof(halide_buffer_t, type));
static_assert(offsetof(tile_tune_buffer, dimensions) == offsetof(halide_buffer_t, dimensions));
static_assert(offsetof(tile_tune_buffer, dim) == offsetof(halide_buffer_t, dim));
static_assert(sizeof(tile_tune_dimension) == sizeof(halide_dimension_t));
static_assert(offsetof(tile_tune_dimension, extent) == offsetof(halide_dimension_t, extent));
static_assert(offsetof(tile_tune_dimension, stride) == offsetof(halide_dimension_t, stride));
static_assert(sizeof(tile_tune_type) == sizeof(halide_type_t));
static_assert(offsetof(tile_tune_type, bits) == offsetof(halide_type_t, bits));
// The type codes that codegen/emit/wrapper_text.cpp writes.
static_assert(halide_type_int == 0 && halide_type_uint == 1 && halide_type_float == 2 && halide_type_bfloat == 4);
