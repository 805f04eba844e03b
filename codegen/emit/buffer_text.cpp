#include "codegen/emit/buffer_text.h"

#include <fmt/format.h>

#include "frontend/ir/storage.h"

namespace tile_tune::codegen {

TypeCode type_code(DType type) {
  switch (type) {
    case DType::Bool:
      return {"{1, 1, 1}", "{6, 8, 1}"};
    case DType::I8:
      return {"{0, 8, 1}", "{0, 8, 1}"};
    case DType::I16:
      return {"{0, 16, 1}", "{0, 16, 1}"};
    case DType::I32:
      return {"{0, 32, 1}", "{0, 32, 1}"};
    case DType::I64:
      return {"{0, 64, 1}", "{0, 64, 1}"};
    case DType::U8:
      return {"{1, 8, 1}", "{1, 8, 1}"};
    case DType::U16:
      return {"{1, 16, 1}", "{1, 16, 1}"};
    case DType::U32:
      return {"{1, 32, 1}", "{1, 32, 1}"};
    case DType::U64:
      return {"{1, 64, 1}", "{1, 64, 1}"};
    case DType::F16:
      return {"{2, 16, 1}", "{2, 16, 1}"};
    case DType::F32:
      return {"{2, 32, 1}", "{2, 32, 1}"};
    case DType::F64:
      return {"{2, 64, 1}", "{2, 64, 1}"};
    case DType::BF16:
      return {"{4, 16, 1}", "{4, 16, 1}"};
    case DType::C32:
      return {"{2, 32, 1}", "{5, 64, 1}"};
    case DType::C64:
      return {"{2, 64, 1}", "{5, 128, 1}"};
  }
  return {};
}

std::vector<std::string> halide_dimensions(const Argument& argument) {
  std::vector<std::string> dimensions;
  if (argument.packed && argument.packed->form) {
    int64_t stride = 1;
    for (const int64_t extent : argument.packed->form->extents) {
      dimensions.push_back(fmt::format("{{0, {}, {}, 0}}", extent, stride));
      stride *= extent;
    }
    return dimensions;
  }
  if (argument.parts() == 2) dimensions.push_back("{0, 2, 1, 0}");
  for (const int d : argument.storage.order(argument.shape.size()))
    dimensions.push_back(fmt::format("{{0, {}, {}, 0}}", argument.shape[d], argument.strides[d] * argument.parts()));
  return dimensions;
}

DType buffer_type(const Argument& argument) {
  return argument.packed && argument.packed->form ? argument.packed->form->type : argument.type;
}

std::string buffer_text(const Argument& argument, const std::string& host, const std::string& dimensions) {
  const size_t count = halide_dimensions(argument).size();
  return fmt::format("{{0, NULL, {}, 0, {}, {}, {}, NULL}}", host, type_code(buffer_type(argument)).halide, count,
                     count == 0 ? "NULL" : fmt::format("(struct tile_tune_dimension*){}", dimensions));
}

}  // namespace tile_tune::codegen
