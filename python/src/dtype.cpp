#include "python/src/dtype.h"

#include <array>
#include <string>

#include "python/src/errors.h"

namespace tile_tune::python {

namespace {

struct Names {
  DType type;
  const char* python;
  const char* command_line;  // as --dtype has it
  int64_t size;
};
constexpr std::array<Names, 15> kNames = {{{DType::Bool, "bool", "bool", 1},
                                           {DType::I8, "int8", "i8", 1},
                                           {DType::U8, "uint8", "u8", 1},
                                           {DType::I16, "int16", "i16", 2},
                                           {DType::U16, "uint16", "u16", 2},
                                           {DType::I32, "int32", "i32", 4},
                                           {DType::U32, "uint32", "u32", 4},
                                           {DType::I64, "int64", "i64", 8},
                                           {DType::U64, "uint64", "u64", 8},
                                           {DType::F16, "float16", "f16", 2},
                                           {DType::BF16, "bfloat16", "bf16", 2},
                                           {DType::F32, "float32", "f32", 4},
                                           {DType::F64, "float64", "f64", 8},
                                           {DType::C32, "complex64", "c32", 8},
                                           {DType::C64, "complex128", "c64", 16}}};

/// Of what `object` may be called: "float32", numpy.float32, dtype('float32'), torch.float32.
std::string name_in(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) return text_of(object);
  for (const char* attribute : {"name", "__name__"})
    if (nb::hasattr(object, attribute)) return text_of(object.attr(attribute));
  const std::string text = text_of(object);
  return text.substr(text.rfind('.') + 1);
}

}  // namespace

const char* name_of(DType type) { return kNames[static_cast<size_t>(type)].python; }
int64_t size_of(DType type) { return kNames[static_cast<size_t>(type)].size; }

DType dtype_from(nb::handle object) {
  const std::string name = name_in(object);
  for (const Names& names : kNames)
    if (name == names.python || name == names.command_line) return names.type;
  raise("dtype-mismatch", "'" + name + "' is no element type of kernels");
}

}  // namespace tile_tune::python
