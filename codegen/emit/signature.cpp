#include "codegen/emit/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "codegen/emit/c_names.h"
#include "codegen/backend/kernel_abi.h"
#include "codegen/schedule/countable.h"
#include "codegen/schedule/loops.h"
#include "frontend/ir/index_checks.h"

namespace tile_tune::codegen {
namespace {

Argument make_argument(const ir::Tensor& tensor) {
  Argument argument{.tensor = tensor.name,
                    .parameter = "",
                    .type = tensor.type,
                    .storage = tensor.storage,
                    .shape = ir::shape(tensor),
                    .strides = {}};
  argument.strides = ir::strides(tensor);
  return argument;
}

PackedArgument packed_argument(const Argument& argument, int tensor, const std::vector<PackedForm>& forms) {
  PackedArgument packed{.tensor = tensor, .form = std::nullopt, .filled = argument.bytes()};
  for (const auto& form : forms)
    if (form.tensor == tensor) packed.form = form;
  if (packed.form) packed.filled = packed.form->bytes();
  packed.bytes = kPackedHeader + (packed.filled + kPackedAlignment - 1) / kPackedAlignment * kPackedAlignment;
  return packed;
}

/// Position among the arguments of the pointer behind a tensor; an initial value shares its output's.
size_t position(const ir::Program& program, int tensor) {
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i] == tensor) return i;
  size_t i = 0;
  while (program.outputs[i] != tensor && program.initial_value_of(program.outputs[i]) != tensor) ++i;
  return program.inputs.size() + i;
}

}  // namespace

int64_t Argument::bytes() const { return ir::reach(strides, shape).count * static_cast<int64_t>(dtype_size(type)); }

int64_t Argument::before() const { return ir::reach(strides, shape).before * static_cast<int64_t>(dtype_size(type)); }

int Argument::parts() const { return is_complex(type) ? 2 : 1; }

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
    case DType::C32:
      return "float";
    case DType::F64:
    case DType::C64:
      return "double";
  }
  return "";
}

Result<Signature> make_signature(const Kernel& kernel) {
  TILE_TUNE_CHECK(check_external_name("function", kernel.function));
  const ir::Program& program = kernel.program;
  if (!program.is_bound())
    return fail(ErrorClass::Mismatch, "unbound-size", fmt::format("'{}' still has sizes without a value", program.name),
                "give each size with -s NAME=N");
  TILE_TUNE_CHECK(check_countable(program));
  Signature signature{.function = kernel.function, .arguments = {}, .inputs = program.inputs.size(), .buffers = {}};
  std::vector<std::string> names;
  const auto forms = packed_forms(program, kernel.schedule);
  std::vector<int> outputs = program.outputs, passed = kernel_arguments(program);
  outputs.resize(outputs.size() - kernel.checks);
  passed.resize(passed.size() - kernel.checks);
  for (const auto* list : {&program.inputs, &std::as_const(outputs)}) {
    for (int number : *list) {
      Argument argument = make_argument(program.tensors[number]);
      argument.is_output = list == &outputs;
      argument.is_in_out = argument.is_output && program.initial_value_of(number).has_value();
      if (program.tensors[number].constant) argument.packed = packed_argument(argument, number, forms);
      names.push_back(argument.tensor);
      signature.arguments.push_back(std::move(argument));
    }
  }
  const auto parameters = parameter_names(names);
  for (size_t i = 0; i < parameters.size(); ++i) signature.arguments[i].parameter = parameters[i];
  for (int tensor : passed) signature.buffers.push_back(position(program, tensor));
  for (size_t i = outputs.size(); i < program.outputs.size(); ++i)
    signature.checks.push_back(program.tensors[program.outputs[i]].type);
  signature.has_unchecked_indices = kernel.checks == 0 && !ir::index_checks(program).empty();
  return signature;
}

Driver driver_of(const Target& target) {
  if (target.device == Device::Cpu) return Driver::None;
  return target.features.has(Feature::Cuda) ? Driver::Cuda : Driver::OpenCl;
}

std::vector<std::string> entry_points(const Signature& signature) {
  std::vector<std::string> entries;
  for (const char* suffix : {"", "_unchecked", "_ctx", "_dl"}) entries.push_back(signature.function + suffix);
  if (signature.driver != Driver::None)
    for (const char* suffix : {"_device", "_device_dl"}) entries.push_back(signature.function + suffix);
  for (const auto& argument : signature.arguments) {
    if (!argument.packed) continue;
    entries.push_back(packing_entry(signature, argument));
    entries.push_back(entries.back() + "_bytes");
  }
  return entries;
}

std::string packing_entry(const Signature& signature, const Argument& constant) {
  return fmt::format("{}_pack_{}", signature.function, constant.parameter);
}

std::string packed_type(const Signature& signature, const Argument& constant) {
  return fmt::format("{}_packed_{}", signature.function, constant.parameter);
}

std::string status_prefix(const std::string& library) {
  std::string prefix = library;
  for (char& c : prefix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // F_OK, R_OK, W_OK and X_OK are macros of <unistd.h>, which the C++ library's headers include; Z_OK is zlib's.
  return library.size() == 1 ? prefix + "_STATUS" : prefix;
}

}  // namespace tile_tune::codegen
