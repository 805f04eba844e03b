#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/tensor/convert.h"

using namespace tile_tune;
using namespace tile_tune::tensor;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

TEST_CASE("every f16 pattern survives decoding and encoding") {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double value = decode_f16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      REQUIRE((bits & 0x7fff) > 0x7c00);
      REQUIRE(std::isnan(decode_f16(encode_f16(value))));
    } else {
      REQUIRE(encode_f16(value) == bits);
      REQUIRE(round_to(DType::F16, value) == value);
    }
  }
}

TEST_CASE("every bf16 pattern survives decoding and encoding") {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double value = decode_bf16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      REQUIRE((bits & 0x7fff) > 0x7f80);
      REQUIRE(std::isnan(decode_bf16(encode_bf16(value))));
    } else {
      REQUIRE(encode_bf16(value) == bits);
      REQUIRE(round_to(DType::BF16, value) == value);
    }
  }
}

TEST_CASE("f16 decodes to the values of IEEE 754") {
  CHECK(decode_f16(0x3c00) == 1.0f);
  CHECK(decode_f16(0xc000) == -2.0f);
  CHECK(decode_f16(0x7bff) == 65504.0f);
  CHECK(decode_f16(0x0400) == 0x1p-14f);
  CHECK(decode_f16(0x0001) == 0x1p-24f);
  CHECK(decode_f16(0x7c00) == kInfinity);
  CHECK(decode_f16(0xfc00) == -kInfinity);
  CHECK(std::signbit(decode_f16(0x8000)));
}

TEST_CASE("rounding to f16 is to nearest, ties to even, from double at once") {
  CHECK(encode_f16(1.0 + 0x1p-11) == 0x3c00);            // tie, even below
  CHECK(encode_f16(1.0 + 3 * 0x1p-11) == 0x3c02);        // tie, even above
  CHECK(encode_f16(1.0 + 0x1p-11 + 0x1p-40) == 0x3c01);  // through float this would be a tie
  CHECK(encode_f16(-1.0 - 0x1p-11 - 0x1p-40) == 0xbc01);
  CHECK(encode_f16(65519.999) == 0x7bff);
  CHECK(encode_f16(65520.0) == 0x7c00);
  CHECK(encode_f16(-1e300) == 0xfc00);
  CHECK(encode_f16(0x1p-25) == 0x0000);  // tie between 0 and the smallest subnormal
  CHECK(encode_f16(0x1.8p-25) == 0x0001);
  CHECK(encode_f16(3 * 0x1p-25) == 0x0002);
  CHECK(encode_f16(0x1p-14 - 0x1p-26) == 0x0400);  // a subnormal that rounds up to a normal number
  CHECK(encode_f16(-0.0) == 0x8000);
}

TEST_CASE("rounding to bf16 is to nearest, ties to even, from double at once") {
  CHECK(encode_bf16(1.0 + 0x1p-8) == 0x3f80);
  CHECK(encode_bf16(1.0 + 3 * 0x1p-8) == 0x3f82);
  CHECK(encode_bf16(1.0 + 0x1p-8 + 0x1p-40) == 0x3f81);
  CHECK(encode_bf16(0x1.fep127) == 0x7f7f);
  CHECK(encode_bf16(0x1.ffp127) == 0x7f80);
  CHECK(encode_bf16(0x1p-133) == 0x0001);
  CHECK(encode_bf16(0x1p-134) == 0x0000);
}

TEST_CASE("integers wrap in their own width") {
  CHECK(wrap(DType::I8, 200) == -56);
  CHECK(wrap(DType::U8, -1) == 255);
  CHECK(wrap(DType::I16, 40000) == -25536);
  CHECK(wrap(DType::U16, 65537) == 1);
  CHECK(wrap(DType::I32, int64_t{1} << 31) == -(int64_t{1} << 31));
  CHECK(wrap(DType::U32, -2) == 4294967294);
  CHECK(wrap(DType::U64, -1) == -1);
  CHECK(wrap(DType::Bool, 256) == 1);
}

TEST_CASE("elements are stored and loaded in every type") {
  std::byte buffer[64] = {};
  for (const DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    store_real(type, buffer, 3, -1.0 / 3);
    CHECK(load_real(type, buffer, 3) == round_to(type, -1.0 / 3));
    CHECK(std::abs(load_real(type, buffer, 3) + 1.0 / 3) <= unit_roundoff(type) / 3);
  }
  for (const DType type :
       {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64}) {
    store_integer(type, buffer, 2, 0x1234567890abcd81);
    CHECK(load_integer(type, buffer, 2) == wrap(type, 0x1234567890abcd81));
  }
}
