// Element types, shared by every folder. Namespace tile_tune (decisions 2 and 3).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tile_tune/dtype.h>

namespace tile_tune {

/// Lower-case name as `--dtype` spells it: "f32", "u8", "bool", ...
std::string_view dtype_name(DType type);
std::optional<DType> parse_dtype(std::string_view name);

/// Bytes an element takes.
size_t dtype_size(DType type);
bool is_float(DType type);    // F16 BF16 F32 F64
bool is_integer(DType type);  // I8 ... U64; not Bool
bool is_signed(DType type);   // signed integers
bool is_complex(DType type);
/// Of a complex type the type of its real and imaginary part; other types themselves.
DType component_type(DType type);

/// 2^-p of the significand: the relative rounding error of one operation (F32: 2^-24). 0 for non-floats.
double unit_roundoff(DType type);

/// The type arithmetic on these two gives before any cast (decision 1): a float beats any integer, the
/// wider float wins, f16 with bf16 gives f32; of two integers the wider, signed if either is.
DType promote(DType a, DType b);

/// The type in which sums and products of `type` accumulate: f32 for f16/bf16, i32 for 8- and 16-bit
/// integers (decision 1), itself otherwise.
DType accumulator_type(DType type);

}  // namespace tile_tune
