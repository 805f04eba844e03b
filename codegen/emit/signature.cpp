#include "codegen/emit/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "codegen/emit/names.h"

namespace tile_tune::codegen {
namespace {

std::vector<int64_t> compact_strides(const std::vector<int64_t>& shape, ir::Layout layout) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t d = layout == ir::Layout::Row ? shape.size() - 1 - i : i;
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

/// halide_buffer_t has 32-bit extents and strides.
bool fits(const std::vector<int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v <= std::numeric_limits<int32_t>::max(); });
}

Result<Argument> make_argument(const ir::Tensor& tensor) {
  Argument argument{.tensor = tensor.name,
                    .parameter = "",
                    .type = tensor.type,
                    .layout = tensor.layout,
                    .shape = ir::shape(tensor),
                    .strides = {}};
  if (c_type(tensor.type).empty())
    return fail(
        ErrorClass::Program, "type-not-emitted",
        fmt::format("tensor '{}' has type {}, which libraries do not take", tensor.name, dtype_name(tensor.type)));
  if (fits(argument.shape)) argument.strides = compact_strides(argument.shape, tensor.layout);
  if (!fits(argument.shape) || !fits(argument.strides))
    return fail(ErrorClass::Mismatch, "tensor-too-large",
                fmt::format("tensor '{}' has an extent or stride above 2147483647 elements", tensor.name));
  return argument;
}

}  // namespace

int64_t Argument::bytes() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count * static_cast<int64_t>(dtype_size(type));
}

std::string_view c_type(DType type) {
  switch (type) {
    case DType::Bool:
      return "uint8_t";
    case DType::I8:
      return "int8_t";
    case DType::U8:
      return "uint8_t";
    case DType::I16:
      return "int16_t";
    case DType::U16:
      return "uint16_t";
    case DType::I32:
      return "int32_t";
    case DType::U32:
      return "uint32_t";
    case DType::I64:
      return "int64_t";
    case DType::U64:
      return "uint64_t";
    case DType::F16:
      return "uint16_t";
    case DType::BF16:
      return "uint16_t";
    case DType::F32:
      return "float";
    case DType::F64:
      return "double";
    case DType::C32:
    case DType::C64:
      return "";
  }
  return "";
}

Result<Signature> make_signature(const Kernel& kernel) {
  TILE_TUNE_CHECK(check_external_name("function", kernel.function));
  const ir::Program& program = kernel.program;
  if (!program.is_bound())
    return fail(ErrorClass::Mismatch, "unbound-size", fmt::format("'{}' still has sizes without a value", program.name),
                "give each size with -s NAME=N");
  Signature signature{.function = kernel.function, .arguments = {}, .inputs = program.inputs.size()};
  std::vector<std::string> names;
  for (const auto* list : {&program.inputs, &program.outputs}) {
    for (int number : *list) {
      TILE_TUNE_TRY(argument, make_argument(program.tensors[number]));
      argument.is_output = list == &program.outputs;
      argument.is_in_out = argument.is_output && program.initial_value_of(number).has_value();
      names.push_back(argument.tensor);
      signature.arguments.push_back(std::move(argument));
    }
  }
  const auto parameters = parameter_names(names);
  for (size_t i = 0; i < parameters.size(); ++i) signature.arguments[i].parameter = parameters[i];
  return signature;
}

std::vector<std::string> entry_points(const Signature& signature) {
  return {signature.function, signature.function + "_unchecked", signature.function + "_dl"};
}

std::string status_prefix(const std::string& library) {
  std::string prefix = library;
  for (char& c : prefix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return prefix;
}

}  // namespace tile_tune::codegen
