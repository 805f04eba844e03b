#include "engine/programs/array_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontend/tensor/convert.h"

namespace tile_tune::engine {

namespace {

struct Known {
  int64_t value;
  std::string from;  // "dimension 0 of A", "-s"
};
using KnownSizes = std::map<std::string, Known>;

Result<void> learn(KnownSizes& known, const std::string& name, int64_t value, const std::string& from) {
  const auto [place, inserted] = known.emplace(name, Known{value, from});
  if (inserted || place->second.value == value) return {};
  return fail(
      ErrorClass::Mismatch, "size-conflict",
      fmt::format("size {} is {} by {} but {} by {}", name, place->second.value, place->second.from, value, from));
}

Result<void> check_array(const ir::Tensor& tensor, const tensor::Array& array) {
  if (array.type != tensor.type)
    return fail(
        ErrorClass::Mismatch, "dtype-mismatch",
        fmt::format("{} is {}, but its array is {}", tensor.name, dtype_name(tensor.type), dtype_name(array.type)),
        "convert the array, in numpy with astype");
  if (array.shape.size() != tensor.extents.size())
    return fail(ErrorClass::Mismatch, "rank-mismatch",
                fmt::format("{} has {} dimensions, but its array has {}", tensor.name, tensor.extents.size(),
                            array.shape.size()));
  return {};
}

std::string dimension(const ir::Tensor& tensor, size_t d) { return fmt::format("dimension {} of {}", d, tensor.name); }

/// A dimension that is one bare size name.
std::optional<std::string> bare_name(const ir::SizeExpr& extent) {
  const auto names = extent.names();
  if (names.size() != 1 || !(extent == ir::SizeExpr::name(*names.begin()))) return std::nullopt;
  return *names.begin();
}

/// A 0-D integer input that bounds a range is a size: its array's value is the size's.
bool is_size_input(const ir::Program& program, const ir::Tensor& tensor) {
  return tensor.extents.empty() && is_integer(tensor.type) && tensor.role == ir::Role::Input &&
         std::find(program.sizes.begin(), program.sizes.end(), tensor.name) != program.sizes.end();
}

/// Dimensions that are numbers or expressions must agree with what the names turned out to be.
Result<void> check_extents(const ir::Tensor& tensor, const tensor::Array& array, const ir::Sizes& sizes) {
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    TILE_TUNE_TRY(bound, tensor.extents[d].bind(sizes));
    const auto extent = bound.constant();
    if (!extent || *extent == array.shape[d]) continue;
    const std::string text = tensor.extents[d].str();
    const std::string number = std::to_string(*extent);
    return fail(ErrorClass::Mismatch, "size-conflict",
                fmt::format("{} is {}{}, but its array has {} there", dimension(tensor, d), text,
                            text == number ? "" : " = " + number, array.shape[d]));
  }
  return {};
}

}  // namespace

std::vector<size_t> size_inputs(const ir::Program& program) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (is_size_input(program, program.tensors[static_cast<size_t>(program.inputs[i])])) positions.push_back(i);
  return positions;
}

ir::Program with_storage_of(ir::Program program, const NamedArrays& arrays, const std::vector<std::string>& layouts) {
  for (auto& tensor : program.tensors) {
    const auto array = arrays.find(tensor.name);
    if (tensor.role != ir::Role::Input || array == arrays.end() || array->second.strides.empty()) continue;
    const bool is_said = std::any_of(layouts.begin(), layouts.end(), [&](const std::string& layout) {
      const size_t equals = layout.find('=');
      return equals == std::string::npos || layout.substr(0, equals) == tensor.name;
    });
    // An array of another rank is reported with the sizes.
    if (!is_said && array->second.strides.size() == tensor.extents.size())
      tensor.storage = ir::Storage::strided({array->second.strides.begin(), array->second.strides.end()});
  }
  return program;
}

Result<ir::Sizes> infer_sizes(const ir::Program& program, const NamedArrays& arrays, const ir::Sizes& given) {
  KnownSizes known;
  for (const auto& [name, value] : given) known.emplace(name, Known{value, "-s"});
  std::vector<std::pair<const ir::Tensor*, const tensor::Array*>> pairs;
  for (const auto& tensor : program.tensors) {
    const auto array = arrays.find(tensor.name);
    if (array == arrays.end() || (tensor.role != ir::Role::Input && tensor.role != ir::Role::InOut)) continue;
    TILE_TUNE_CHECK(check_array(tensor, array->second));
    pairs.emplace_back(&tensor, &array->second);
  }
  for (const auto& [tensor, array] : pairs) {
    for (size_t d = 0; d < tensor->extents.size(); ++d)
      if (const auto name = bare_name(tensor->extents[d]))
        TILE_TUNE_CHECK(learn(known, *name, array->shape[d], dimension(*tensor, d)));
    if (is_size_input(program, *tensor))
      TILE_TUNE_CHECK(learn(known, tensor->name, tensor::load_integer(array->type, array->data.data(), 0),
                            "the value of " + tensor->name));
  }
  ir::Sizes sizes;
  for (const auto& [name, one] : known) sizes.emplace(name, one.value);
  for (const auto& [tensor, array] : pairs) TILE_TUNE_CHECK(check_extents(*tensor, *array, sizes));
  return sizes;
}

}  // namespace tile_tune::engine
