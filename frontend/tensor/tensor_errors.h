// Every error of layouts and tensors: its code, its sentence and its numbers, in one place.
#pragma once

#include <tile_tune/dtype.h>
#include <tile_tune/expected.h>

#include <string>
#include <vector>

namespace tile_tune::tensor::errors {

/// `what` is counted: "strides", "slices"; numbers: how many there are, how many there should be.
Error rank_mismatch(const char* operation, const char* what, size_t given, size_t wanted);
Error too_many_dimensions(const char* operation, size_t rank);
/// Numbers: the dimension, its extent.
Error negative_extent(const char* operation, size_t dimension, int64_t extent);
Error integer_overflow(const char* operation, const char* what);
/// Numbers: first and last place that is reached, elements of the buffer.
Error view_out_of_bounds(const char* operation, int64_t first, int64_t last, int64_t buffer);
/// Numbers: the axis, the rank.
Error axis_out_of_range(const char* operation, int axis, size_t rank);
Error duplicate_axis(const char* operation, int axis);
/// Numbers: the dimension.
Error invalid_slice_step(size_t dimension);
/// Numbers: the dimension, its extent, start, end, step.
Error invalid_slice_bounds(size_t dimension, int64_t extent, int64_t start, int64_t end, int64_t step);
/// Numbers: both extents; `what` says of what they are.
Error shape_mismatch(const char* operation, const std::string& what, int64_t first, int64_t second);
Error not_contiguous(const char* operation);
/// Numbers: the dimension and its stride, where one alone is to blame.
Error overlapping(const char* operation, std::vector<int64_t> numbers);
Error unsupported_conversion(DType from, DType to);
Error dtype_mismatch(const char* operation, DType given, DType wanted);
Error not_on_host(const char* operation);
Error out_of_memory(const char* operation, int64_t bytes);
Error null_data(const char* operation);

}  // namespace tile_tune::tensor::errors
