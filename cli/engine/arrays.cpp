#include "cli/engine/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace tile_tune::engine {

namespace {

bool is_argument(const ir::Tensor& tensor) { return tensor.role != ir::Role::Temporary; }

std::vector<int64_t> strides_of(const Array& array) {
  if (!array.strides.empty()) return array.strides;
  std::vector<int64_t> strides(array.shape.size(), 1);
  for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * array.shape[d];
  return strides;
}

/// Calls copy(compact element, strided element) for each element in C order.
template <typename Copy>
void for_each_element(std::byte* compact, const Array& strided, Copy copy) {
  const size_t size = dtype_size(strided.type), rank = strided.shape.size();
  if (std::any_of(strided.shape.begin(), strided.shape.end(), [](int64_t extent) { return extent <= 0; })) return;
  const auto strides = strides_of(strided);
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
  const bool is_empty = std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
  if (!array.data && !is_empty) return bad("has no data");
  int64_t elements = 1;
  for (const int64_t extent : array.shape)
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return bad("has an impossible shape");
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

Result<cli::NamedArrays> read_arrays(const ir::Program& program, const Arrays& arrays) {
  for (const auto& [name, array] : arrays) {
    const bool known = std::any_of(program.tensors.begin(), program.tensors.end(), [&name = name](const auto& tensor) {
      return is_argument(tensor) && tensor.name == name;
    });
    if (!known)
      return fail(ErrorClass::Mismatch, "unknown-array",
                  fmt::format("{} has no input or output '{}'", program.name, name));
  }
  cli::NamedArrays read;
  for (const auto& tensor : program.tensors) {
    if (tensor.role != ir::Role::Input && tensor.role != ir::Role::InOut) continue;
    TILE_TUNE_TRY(array, find(tensor, arrays));
    auto compact = tensor::Array::zeros(array->type, array->shape);
    for_each_element(compact.data.data(), *array,
                     [](std::byte* to, const std::byte* from, size_t size) { std::memcpy(to, from, size); });
    read.emplace(tensor.name, std::move(compact));
  }
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

void write_array(const tensor::Array& from, const Array& to) {
  // Only read, but for_each_element serves both directions.
  auto* compact = const_cast<std::byte*>(from.data.data());
  for_each_element(compact, to,
                   [](const std::byte* element, std::byte* place, size_t size) { std::memcpy(place, element, size); });
}

}  // namespace tile_tune::engine
