// Texts that describe Halide's buffers in generated C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

struct TypeCode {
  std::string_view halide;  // halide_type_t: code, bits, lanes
  std::string_view dlpack;  // DLDataType: the same, where bool has code 6 and 8 bits
};
TypeCode type_code(DType type);

/// Halide's dimensions of an argument, the fastest first; the parts of complex elements are one.
std::vector<std::string> halide_dimensions(const Argument& argument);

/// Of the elements that a kernel reads or writes there.
DType buffer_type(const Argument& argument);

/// A buffer on the stack that shows `host`, with the dimensions of table `dimensions`.
std::string buffer_text(const Argument& argument, const std::string& host, const std::string& dimensions);

}  // namespace tile_tune::codegen
