#include "engine/sdk/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace tile_tune::engine {

namespace {

std::vector<int64_t> compact_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool is_empty(const Array& array) { return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end(); }

/// Whether an element's place in memory is its number in C order; along a dimension of one element any stride is right.
bool is_compact(const Array& array) {
  if (is_empty(array)) return true;
  const auto compact = compact_strides(array.shape);
  for (size_t d = 0; d < array.strides.size(); ++d)
    if (array.shape[d] != 1 && array.strides[d] != compact[d]) return false;
  return true;
}

bool is_argument(const ir::Tensor& tensor) { return tensor.role != ir::Role::Temporary; }

/// Calls copy(compact elements, strided elements, bytes) for all elements together where they are as compact, else for
/// each in C order.
template <typename Copy>
void for_each_element(std::byte* compact, const Array& strided, Copy copy) {
  const size_t size = dtype_size(strided.type), rank = strided.shape.size();
  if (is_empty(strided)) return;
  if (is_compact(strided)) {
    const auto count = std::accumulate(strided.shape.begin(), strided.shape.end(), size_t{1}, std::multiplies<>());
    return copy(compact, static_cast<std::byte*>(strided.data), count * size);
  }
  const auto& strides = strided.strides;
  std::vector<int64_t> place(rank, 0);
  auto* element = static_cast<std::byte*>(strided.data);
  const auto step = [&](size_t d, int64_t count) { element += strides[d] * count * static_cast<int64_t>(size); };
  while (true) {
    copy(compact, element, size);
    compact += size;
    size_t d = rank;
    while (d > 0 && ++place[d - 1] == strided.shape[d - 1]) {
      --d;
      step(d, 1 - strided.shape[d]);
      place[d] = 0;
    }
    if (d == 0) return;
    step(d - 1, 1);
  }
}

tensor::Array copy_of(const Array& array) {
  auto compact = tensor::Array::zeros(array.type, array.shape);
  for_each_element(compact.data.data(), array,
                   [](std::byte* to, const std::byte* from, size_t size) { std::memcpy(to, from, size); });
  return compact;
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
  NamedArrays described;
  for (const auto& tensor : program.tensors) {
    if (!is_read(tensor)) continue;
    TILE_TUNE_TRY(array, find(tensor, arrays));
    described.emplace(tensor.name,
                      array->shape.empty() ? copy_of(*array) : tensor::Array{array->type, array->shape, {}});
  }
  return described;
}

NamedArrays read_arrays(const ir::Program& program, const Arrays& arrays) {
  NamedArrays read;
  for (const auto& tensor : program.tensors)
    if (is_read(tensor)) read.emplace(tensor.name, copy_of(arrays.at(tensor.name)));
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

std::vector<Message> strided_arrays(const ir::Program& program, const Arrays& arrays) {
  std::vector<Message> notices;
  for (const auto& [name, array] : arrays)
    if (!is_compact(array))
      notices.push_back({Message::Severity::Notice, "strided-array",
                         fmt::format("the array of {} has strides ({}) and is copied element by element: kernels of {} "
                                     "take ({})",
                                     name, fmt::join(array.strides, ", "), program.name,
                                     fmt::join(compact_strides(array.shape), ", ")),
                         "", 0});
  return notices;
}

void write_array(const tensor::Array& from, const Array& to) {
  // Only read, but for_each_element serves both directions.
  auto* compact = const_cast<std::byte*>(from.data.data());
  for_each_element(compact, to,
                   [](const std::byte* element, std::byte* place, size_t size) { std::memcpy(place, element, size); });
}

}  // namespace tile_tune::engine
