#include "search/judge/kernel_arguments.h"

#include "codegen/backend/kernel_abi.h"
#include "frontend/ir/storage.h"
#include "frontend/tensor/copy_elements.h"

namespace tile_tune::search {
namespace {

halide_type_t halide_type(DType type) {
  const auto bits = static_cast<uint8_t>(8 * dtype_size(type));
  switch (type) {
    case DType::Bool:
      return {halide_type_uint, 1};
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
      return {halide_type_int, bits};
    case DType::BF16:
      return {halide_type_bfloat, bits};
    case DType::F16:
    case DType::F32:
    case DType::F64:
      return {halide_type_float, bits};
    case DType::C32:
    case DType::C64:
      return {halide_type_float, static_cast<uint8_t>(bits / 2)};
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64:
      break;
  }
  return {halide_type_uint, bits};
}

std::vector<halide_dimension_t> dimensions_of(const ir::Tensor& tensor) {
  const auto extents = ir::shape(tensor);
  const auto strides = ir::strides(tensor);
  std::vector<halide_dimension_t> dimensions;
  const int32_t parts = is_complex(tensor.type) ? 2 : 1;
  if (parts == 2) dimensions.push_back({0, 2, 1});
  for (const int d : ir::memory_order(tensor))
    dimensions.push_back({0, static_cast<int32_t>(extents[d]), static_cast<int32_t>(strides[d]) * parts});
  return dimensions;
}

}  // namespace

KernelArguments::KernelArguments(const ir::Program& program, const std::map<int, std::byte*>& memory) {
  std::map<int, std::byte*> host = memory;
  for (const int output : program.outputs)
    if (const auto initial = program.initial_value_of(output)) host[*initial] = memory.at(output);
  const auto arguments = codegen::kernel_arguments(program);
  for (const int number : arguments) dimensions_.push_back(dimensions_of(program.tensors[number]));
  for (size_t i = 0; i < arguments.size(); ++i) {
    halide_buffer_t buffer{};
    const auto& tensor = program.tensors[arguments[i]];
    buffer.host =
        reinterpret_cast<uint8_t*>(host.at(arguments[i])) + ir::reach(tensor).before * dtype_size(tensor.type);
    buffer.type = halide_type(program.tensors[arguments[i]].type);
    buffer.dimensions = static_cast<int32_t>(dimensions_[i].size());
    buffer.dim = dimensions_[i].data();
    buffers_.push_back(buffer);
  }
  for (auto& buffer : buffers_) pointers_.push_back(&buffer);
}

int64_t storage_bytes(const ir::Tensor& tensor) {
  return ir::reach(tensor).count * static_cast<int64_t>(dtype_size(tensor.type));
}

bool lies_as(const tensor::Array& array, const ir::Tensor& tensor) {
  if (static_cast<int64_t>(array.data.size()) != storage_bytes(tensor)) return false;
  if (array.data.empty()) return true;
  const auto wanted = ir::strides(tensor);
  const auto& given = array.strides.empty() ? tensor::c_strides(array.shape) : array.strides;
  for (size_t d = 0; d < wanted.size(); ++d)
    if (array.shape[d] != 1 && given[d] != wanted[d]) return false;
  return true;
}

void to_storage(const ir::Tensor& tensor, const tensor::Array& array, std::byte* storage) {
  const auto size = static_cast<int64_t>(dtype_size(tensor.type));
  tensor::copy_elements(
      {array.data.data() + array.origin * size, array.strides.empty() ? tensor::c_strides(array.shape) : array.strides},
      {storage + ir::reach(tensor).before * size, ir::strides(tensor)}, array.shape, tensor.type);
}

tensor::Array as_stored(const ir::Tensor& tensor, const std::byte* storage) {
  tensor::Array array{tensor.type, ir::shape(tensor), {storage, storage + storage_bytes(tensor)}};
  if (lies_as(array, tensor)) return array;
  array.strides = ir::strides(tensor);
  array.origin = ir::reach(tensor).before;
  return array;
}

tensor::Array from_storage(const ir::Tensor& tensor, const std::byte* storage) {
  auto array = tensor::Array::zeros(tensor.type, ir::shape(tensor));
  const auto size = static_cast<int64_t>(dtype_size(tensor.type));
  tensor::copy_elements({storage + ir::reach(tensor).before * size, ir::strides(tensor)},
                        {array.data.data(), tensor::c_strides(array.shape)}, array.shape, array.type);
  return array;
}

}  // namespace tile_tune::search
