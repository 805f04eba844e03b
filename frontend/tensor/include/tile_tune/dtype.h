// Element types. Part of the SDK: the standard library is all it needs.
#pragma once

namespace tile_tune {

/// Bool is one byte, 0 or 1. BF16 and F16 are stored as 16-bit patterns. C32 = 2 x f32, C64 = 2 x f64.
enum class DType { Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64, C32, C64 };

}  // namespace tile_tune
