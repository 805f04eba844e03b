#include "engine/caller/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "frontend/ir/storage.h"
#include "frontend/tensor/copy_elements.h"

namespace tile_tune::engine {

namespace {

bool is_empty(const Array& array) { return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end(); }

std::vector<int64_t> strides_of(const Array& array) {
  return array.strides.empty() ? tensor::c_strides(array.shape) : array.strides;
}

/// Those of the same elements with nothing between them: their order and direction stay, and so do repeated ones.
/// Elements that overlap are where they are.
std::vector<int64_t> without_gaps(const Array& array) {
  std::vector<size_t> order;
  for (size_t d = 0; d < array.shape.size(); ++d)
    if (array.shape[d] > 1 && array.strides[d] != 0) order.push_back(d);
  const auto distance = [&](size_t d) { return std::abs(array.strides[d]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
  auto result = array.strides;
  int64_t reached = 0, next = 1;
  for (const size_t d : order) {
    if (distance(d) <= reached) return array.strides;
    reached += distance(d) * (array.shape[d] - 1);
    result[d] = array.strides[d] < 0 ? -next : next;
    next *= array.shape[d];
  }
  return result;
}

bool is_argument(const ir::Tensor& tensor) { return tensor.role != ir::Role::Temporary; }

/// A copy of its elements, stored like the tensor.
tensor::Array copy_of(const Array& array, const ir::Storage& storage) {
  tensor::Array copy{array.type, array.shape, {}};
  const auto strides = ir::strides(storage, array.shape);
  const auto [before, count] = ir::reach(strides, array.shape);
  const auto size = static_cast<int64_t>(dtype_size(array.type));
  copy.data.resize(static_cast<size_t>(count * size));
  if (!storage.is_row()) {
    copy.strides = strides;
    copy.origin = before;
  }
  if (count > 0)
    tensor::copy_elements({static_cast<const std::byte*>(array.data), strides_of(array)},
                          {copy.data.data() + before * size, strides}, array.shape, array.type);
  return copy;
}

bool is_read(const ir::Tensor& tensor) { return tensor.role == ir::Role::Input || tensor.role == ir::Role::InOut; }

Result<void> check_array(const ir::Tensor& tensor, const Array& array) {
  if (array.type != tensor.type)
    return fail(
        ErrorClass::Mismatch, "dtype-mismatch",
        fmt::format("{} is {}, but its array is {}", tensor.name, dtype_name(tensor.type), dtype_name(array.type)));
  const auto bad = [&](const char* why) {
    return fail(ErrorClass::Mismatch, "bad-array", fmt::format("the array of {} {}", tensor.name, why));
  };
  if (!array.strides.empty() && array.strides.size() != array.shape.size())
    return bad("has not one stride for each dimension");
  if (!array.data && !is_empty(array)) return bad("has no data");
  int64_t elements = 1;
  for (const int64_t extent : array.shape)
    if (extent < 0 || (!is_empty(array) && __builtin_mul_overflow(elements, extent, &elements)))
      return bad("has an impossible shape");
  if (array.strides.empty() || is_empty(array)) return {};
  if (!ir::is_addressable(array.strides, array.shape, dtype_size(array.type)))
    return bad("has strides that reach beyond all memory");
  if (tensor.role != ir::Role::Input && ir::has_overlap(array.strides, array.shape))
    return bad("has two elements in one place, and is written");
  return {};
}

Result<const Array*> find(const ir::Tensor& tensor, const Arrays& arrays) {
  const auto found = arrays.find(tensor.name);
  if (found == arrays.end())
    return fail(ErrorClass::Mismatch, "missing-array", fmt::format("there is no array for {}", tensor.name));
  TILE_TUNE_CHECK(check_array(tensor, found->second));
  return &found->second;
}

}  // namespace

Result<NamedArrays> describe_arrays(const ir::Program& program, const Arrays& arrays) {
  for (const auto& [name, array] : arrays) {
    const bool known = std::any_of(program.tensors.begin(), program.tensors.end(), [&name = name](const auto& tensor) {
      return is_argument(tensor) && tensor.name == name;
    });
    if (!known)
      return fail(ErrorClass::Mismatch, "unknown-array",
                  fmt::format("{} has no input or output '{}'", program.name, name));
  }
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    if (const auto found = arrays.find(tensor.name); found != arrays.end())
      TILE_TUNE_CHECK(check_array(tensor, found->second));
  }
  NamedArrays described;
  for (const auto& tensor : program.tensors) {
    if (!is_read(tensor)) continue;
    TILE_TUNE_TRY(array, find(tensor, arrays));
    described.emplace(tensor.name,
                      array->shape.empty() ? copy_of(*array, {}) : tensor::Array{array->type, array->shape, {}});
  }
  return described;
}

NamedArrays read_arrays(const ir::Program& program, const Arrays& arrays) {
  NamedArrays read;
  for (const auto& tensor : program.tensors)
    if (is_read(tensor)) read.emplace(tensor.name, copy_of(arrays.at(tensor.name), tensor.storage));
  return read;
}

Result<void> check_outputs(const ir::Program& program, const Arrays& arrays) {
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    TILE_TUNE_TRY(array, find(tensor, arrays));
    const auto shape = ir::shape(tensor);
    if (array->shape != shape)
      return fail(ErrorClass::Mismatch, "size-conflict",
                  fmt::format("{} has the shape ({}), but its array ({})", tensor.name, fmt::join(shape, ", "),
                              fmt::join(array->shape, ", ")));
  }
  return {};
}

ir::Program with_storage_of(ir::Program program, const Arrays& arrays) {
  for (auto& tensor : program.tensors) {
    const auto found = arrays.find(tensor.name);
    if (!is_argument(tensor) || found == arrays.end()) continue;
    const Array& array = found->second;
    if (array.strides.empty() || array.strides.size() != tensor.extents.size()) continue;
    const auto strides = is_empty(array) ? array.strides : without_gaps(array);
    tensor.storage = ir::Storage::strided({strides.begin(), strides.end()});
  }
  return program;
}

void write_array(const tensor::Array& from, const Array& to) {
  const auto size = static_cast<int64_t>(dtype_size(from.type));
  tensor::copy_elements(
      {from.data.data() + from.origin * size, from.strides.empty() ? tensor::c_strides(from.shape) : from.strides},
      {static_cast<std::byte*>(to.data), strides_of(to)}, to.shape, to.type);
}

}  // namespace tile_tune::engine
