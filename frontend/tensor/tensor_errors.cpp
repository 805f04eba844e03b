#include "frontend/tensor/tensor_errors.h"

#include <fmt/format.h>

#include <utility>

#include "frontend/tensor/dtype.h"

namespace tile_tune::tensor::errors {
namespace {

Error make(const char* code, const char* operation, const std::string& message, std::vector<int64_t> numbers = {},
           std::string note = {}) {
  return {code, fmt::format("{}: {}", operation, message), std::move(note), operation, std::move(numbers)};
}

}  // namespace

Error rank_mismatch(const char* operation, const char* what, size_t given, size_t wanted) {
  return make("rank-mismatch", operation, fmt::format("{} {} where {} are needed", given, what, wanted),
              {static_cast<int64_t>(given), static_cast<int64_t>(wanted)});
}

Error too_many_dimensions(const char* operation, size_t rank) {
  return make("rank-mismatch", operation, fmt::format("{} dimensions are more than a tensor has", rank),
              {static_cast<int64_t>(rank)});
}

Error negative_extent(const char* operation, size_t dimension, int64_t extent) {
  return make("negative-extent", operation, fmt::format("dimension {} has the extent {}", dimension, extent),
              {static_cast<int64_t>(dimension), extent});
}

Error integer_overflow(const char* operation, const char* what) {
  return make("integer-overflow", operation, fmt::format("{} needs more than 64 bits", what));
}

Error view_out_of_bounds(const char* operation, int64_t first, int64_t last, int64_t buffer) {
  return make("view-out-of-bounds", operation,
              fmt::format("elements {} to {} of a buffer of {} are reached", first, last, buffer),
              {first, last, buffer});
}

Error axis_out_of_range(const char* operation, int axis, size_t rank) {
  return make("axis-out-of-range", operation, fmt::format("axis {} of {} dimensions", axis, rank),
              {axis, static_cast<int64_t>(rank)});
}

Error duplicate_axis(const char* operation, int axis) {
  return make("duplicate-axis", operation, fmt::format("axis {} is named twice", axis), {axis});
}

Error invalid_slice_step(size_t dimension) {
  return make("invalid-slice-step", "slice", fmt::format("the step of dimension {} is 0", dimension),
              {static_cast<int64_t>(dimension)});
}

Error invalid_slice_bounds(size_t dimension, int64_t extent, int64_t start, int64_t end, int64_t step) {
  return make(
      "invalid-slice-bounds", "slice",
      fmt::format("dimension {} of extent {} has nothing from {} to {} by {}", dimension, extent, start, end, step),
      {static_cast<int64_t>(dimension), extent, start, end, step},
      "bounds are not moved into the tensor; with a negative step an end of -1 is before element 0");
}

Error shape_mismatch(const char* operation, const std::string& what, int64_t first, int64_t second) {
  return make("shape-mismatch", operation, fmt::format("{}: {} and {}", what, first, second), {first, second});
}

Error not_contiguous(const char* operation) {
  return make("not-contiguous", operation, "the elements are not neighbours in column-major order", {},
              "to_contiguous() copies them");
}

Error overlapping(const char* operation, std::vector<int64_t> numbers) {
  return make("overlapping-elements", operation,
              numbers.size() == 2
                  ? fmt::format("dimension {} has the stride {}, and is written", numbers[0], numbers[1])
                  : "two elements may lie in one place, and are written",
              std::move(numbers));
}

Error unsupported_conversion(DType from, DType to) {
  return make("lossy-conversion", "convert",
              fmt::format("{} does not hold every value of {}", dtype_name(to), dtype_name(from)), {},
              "cast() rounds, truncates and saturates");
}

Error dtype_mismatch(const char* operation, DType given, DType wanted) {
  return make("dtype-mismatch", operation,
              fmt::format("the elements are {}, not {}", dtype_name(given), dtype_name(wanted)));
}

Error not_on_host(const char* operation) {
  return make("not-on-host", operation, "the elements are in a device's memory", {}, "download() copies them");
}

Error out_of_memory(const char* operation, int64_t bytes) {
  return make("out-of-memory", operation, fmt::format("there are no {} bytes", bytes), {bytes});
}

Error null_data(const char* operation) { return make("null-data", operation, "there are elements, but no memory"); }

}  // namespace tile_tune::tensor::errors
