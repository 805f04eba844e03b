// The generated wrapper describes halide_buffer_t by itself; this compares its description with the SDK's.
#include <HalideRuntime.h>

#include <catch2/catch.hpp>

#include "codegen/emit/wrapper_text.h"

TEST_CASE("the wrapper's buffer has the layout of the SDK's") {
  // As in wrapper_text.cpp; the text is compared below, so that neither can change alone.
  const std::string text = R"(
struct tile_tune_dimension { int32_t min, extent, stride; uint32_t flags; };
struct tile_tune_type { uint8_t code, bits; uint16_t lanes; };
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
)";
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
  const tile_tune::codegen::Signature none{"f", {}, 0, {}};
  CHECK(tile_tune::codegen::wrapper_text("l", none, {}).find(text) != std::string::npos);

  STATIC_REQUIRE(sizeof(tile_tune_buffer) == sizeof(halide_buffer_t));
  STATIC_REQUIRE(offsetof(tile_tune_buffer, host) == offsetof(halide_buffer_t, host));
  STATIC_REQUIRE(offsetof(tile_tune_buffer, flags) == offsetof(halide_buffer_t, flags));
  STATIC_REQUIRE(offsetof(tile_tune_buffer, type) == offsetof(halide_buffer_t, type));
  STATIC_REQUIRE(offsetof(tile_tune_buffer, dimensions) == offsetof(halide_buffer_t, dimensions));
  STATIC_REQUIRE(offsetof(tile_tune_buffer, dim) == offsetof(halide_buffer_t, dim));
  STATIC_REQUIRE(sizeof(tile_tune_dimension) == sizeof(halide_dimension_t));
  STATIC_REQUIRE(offsetof(tile_tune_dimension, extent) == offsetof(halide_dimension_t, extent));
  STATIC_REQUIRE(offsetof(tile_tune_dimension, stride) == offsetof(halide_dimension_t, stride));
  STATIC_REQUIRE(sizeof(tile_tune_type) == sizeof(halide_type_t));
  STATIC_REQUIRE(halide_error_code_out_of_memory == -11);
  STATIC_REQUIRE((halide_type_int == 0 && halide_type_uint == 1 && halide_type_float == 2 && halide_type_bfloat == 4));
}
