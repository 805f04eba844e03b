#include <tile_tune/layout.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "frontend/tensor/copy_elements.h"
#include "frontend/tensor/tensor_errors.h"

namespace tile_tune::tensor {
namespace {

// Layouts that no order of strides shows to be free of overlap are looked at element by element, up to so many.
constexpr int64_t kMostEnumerated = 4096;

bool has_no_elements(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

/// False where 64 bits are not enough.
bool add_product(int64_t& sum, int64_t a, int64_t b) {
  int64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

Expected<int64_t> count_of(const char* operation, const Shape& shape) {
  if (shape.size() > kMaxRank) return errors::too_many_dimensions(operation, shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0) return errors::negative_extent(operation, d, shape[d]);
  if (has_no_elements(shape)) return int64_t{0};
  int64_t count = 1;
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return errors::integer_overflow(operation, "the number of elements");
  return count;
}

/// Each axis one of `rank`, and none twice.
Expected<void> check_axes(const char* operation, const std::vector<int>& axes, size_t rank) {
  std::vector<bool> is_taken(rank, false);
  for (const int axis : axes) {
    if (axis < 0 || static_cast<size_t>(axis) >= rank) return errors::axis_out_of_range(operation, axis, rank);
    if (is_taken[static_cast<size_t>(axis)]) return errors::duplicate_axis(operation, axis);
    is_taken[static_cast<size_t>(axis)] = true;
  }
  return {};
}

bool lies_as(const Layout& layout, const Strides& compact) {
  if (has_no_elements(layout.shape())) return true;
  for (size_t d = 0; d < compact.size(); ++d)
    if (layout.shape()[d] != 1 && layout.strides()[d] != compact[d]) return false;
  return true;
}

/// Whether two of at most kMostEnumerated elements share a place.
bool shares_places(const Layout& layout) {
  std::vector<int64_t> places{0};
  for (size_t d = 0; d < layout.rank(); ++d) {
    const size_t before = places.size();
    for (int64_t i = 1; i < layout.shape()[d]; ++i)
      for (size_t p = 0; p < before; ++p) places.push_back(places[p] + i * layout.strides()[d]);
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

}  // namespace

Expected<Layout> Layout::checked(const char* operation, Shape shape, Strides strides, int64_t offset, int64_t buffer) {
  if (strides.size() != shape.size()) return errors::rank_mismatch(operation, "strides", strides.size(), shape.size());
  const auto count = count_of(operation, shape);
  if (!count) return count.error();
  int64_t first = offset, last = offset;
  if (*count > 0)
    for (size_t d = 0; d < shape.size(); ++d)
      if (!add_product(strides[d] < 0 ? first : last, shape[d] - 1, strides[d]))
        return errors::integer_overflow(operation, "the place of an element");
  // Without elements the offset alone counts, and may be the end.
  if (first < 0 || last > buffer || (*count > 0 && last == buffer))
    return errors::view_out_of_bounds(operation, first, last, buffer);
  Layout layout;
  layout.shape_ = std::move(shape);
  layout.strides_ = std::move(strides);
  layout.offset_ = offset;
  layout.buffer_ = buffer;
  return layout;
}

Expected<Layout> Layout::derived(const char* operation, Shape shape, Strides strides, int64_t offset) const {
  return checked(operation, std::move(shape), std::move(strides), offset, buffer_);
}

Expected<Layout> Layout::column_major(Shape shape) {
  const auto count = count_of("column_major", shape);
  if (!count) return count.error();
  auto strides = fortran_strides(shape);
  return checked("column_major", std::move(shape), std::move(strides), 0, *count);
}

Expected<Layout> Layout::row_major(Shape shape) {
  const auto count = count_of("row_major", shape);
  if (!count) return count.error();
  auto strides = c_strides(shape);
  return checked("row_major", std::move(shape), std::move(strides), 0, *count);
}

Expected<Layout> Layout::strided(Shape shape, Strides strides, int64_t offset, int64_t buffer) {
  return checked("strided", std::move(shape), std::move(strides), offset, buffer);
}

int64_t Layout::element_count() const {
  if (has_no_elements(shape_)) return 0;
  return std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>());
}

std::optional<Layout::Reach> Layout::reach() const {
  if (has_no_elements(shape_)) return std::nullopt;
  Reach reach{offset_, offset_};
  for (size_t d = 0; d < rank(); ++d) (strides_[d] < 0 ? reach.first : reach.last) += (shape_[d] - 1) * strides_[d];
  return reach;
}

bool Layout::is_column_major() const { return lies_as(*this, fortran_strides(shape_)); }
bool Layout::is_row_major() const { return lies_as(*this, c_strides(shape_)); }

Expected<void> Layout::check_mutable() const {
  if (has_no_elements(shape_)) return {};
  std::vector<size_t> order;
  for (size_t d = 0; d < rank(); ++d) {
    if (shape_[d] == 1) continue;
    if (strides_[d] == 0) return errors::overlapping("check_mutable", {static_cast<int64_t>(d), 0});
    order.push_back(d);
  }
  const auto distance = [&](size_t d) { return std::abs(strides_[d]); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
  // Each step is longer than all that the smaller ones reach together.
  int64_t reached = 0;
  bool is_nested = true;
  for (const size_t d : order) {
    is_nested &= distance(d) > reached;
    reached += distance(d) * (shape_[d] - 1);
  }
  if (is_nested) return {};
  if (element_count() > kMostEnumerated || shares_places(*this)) return errors::overlapping("check_mutable", {});
  return {};
}

Expected<Layout> Layout::transpose(const std::vector<int>& axes) const {
  if (axes.size() != rank()) return errors::rank_mismatch("transpose", "axes", axes.size(), rank());
  if (const auto fit = check_axes("transpose", axes, rank()); !fit) return fit.error();
  Shape shape;
  Strides strides;
  for (const int axis : axes) {
    shape.push_back(shape_[static_cast<size_t>(axis)]);
    strides.push_back(strides_[static_cast<size_t>(axis)]);
  }
  return derived("transpose", std::move(shape), std::move(strides), offset_);
}

Expected<Layout> Layout::slice(const std::vector<Slice>& slices) const {
  if (slices.size() != rank()) return errors::rank_mismatch("slice", "slices", slices.size(), rank());
  Shape shape(rank());
  Strides strides(rank());
  int64_t offset = offset_;
  for (size_t d = 0; d < rank(); ++d) {
    const int64_t start = slices[d].start, end = slices[d].end, step = slices[d].step;
    const int64_t extent = shape_[d];
    if (step == 0) return errors::invalid_slice_step(d);
    const auto bad = [&] { return errors::invalid_slice_bounds(d, extent, start, end, step); };
    // Two elements that are inside the buffer have a distance: this is the stride of one at most.
    if (__builtin_mul_overflow(strides_[d], step, &strides[d])) strides[d] = 0;
    if (extent == 0) continue;
    // Negative bounds that are not within the dimension stay negative here.
    const int64_t from = start < 0 ? start + extent : start;
    const int64_t to = end < (step < 0 ? -1 : 0) ? end + extent : end;  // -1 stays, going down
    if (from < 0 || from > extent || to > extent) return bad();
    if (step > 0) {
      if (to < 0) return bad();
      shape[d] = to > from ? (to - from - 1) / step + 1 : 0;
    } else {
      if (from == extent || to == extent || to < -1) return bad();
      // -(step + 1) is |step| - 1, of the least number too.
      shape[d] =
          from > to
              ? static_cast<int64_t>(static_cast<uint64_t>(from - to - 1) / (static_cast<uint64_t>(-(step + 1)) + 1)) +
                    1
              : 0;
    }
    if (shape[d] > 0 && !add_product(offset, from, strides_[d])) return errors::integer_overflow("slice", "the offset");
  }
  // Where nothing is left it lies nowhere.
  if (has_no_elements(shape)) offset = offset_;
  return derived("slice", std::move(shape), std::move(strides), offset);
}

Expected<Layout> Layout::reshape(Shape shape) const {
  if (!is_column_major()) return errors::not_contiguous("reshape");
  const auto count = count_of("reshape", shape);
  if (!count) return count.error();
  if (*count != element_count())
    return errors::shape_mismatch("reshape", "numbers of elements", element_count(), *count);
  auto strides = fortran_strides(shape);
  return derived("reshape", std::move(shape), std::move(strides), offset_);
}

Expected<Layout> Layout::broadcast(Shape shape, const std::vector<int>& axes) const {
  if (axes.size() != rank()) return errors::rank_mismatch("broadcast", "axes", axes.size(), rank());
  if (const auto fit = check_axes("broadcast", axes, shape.size()); !fit) return fit.error();
  Strides strides(shape.size(), 0);
  for (size_t d = 0; d < rank(); ++d) {
    const auto axis = static_cast<size_t>(axes[d]);
    if (shape_[d] == shape[axis])
      strides[axis] = strides_[d];
    else if (shape_[d] != 1)
      return errors::shape_mismatch("broadcast", "extents of dimension " + std::to_string(d), shape_[d], shape[axis]);
  }
  return derived("broadcast", std::move(shape), std::move(strides), offset_);
}

Expected<Layout> Layout::diagonal(int first, int second) const {
  if (const auto fit = check_axes("diagonal", {first, second}, rank()); !fit) return fit.error();
  const auto a = static_cast<size_t>(first), b = static_cast<size_t>(second);
  if (shape_[a] != shape_[b]) return errors::shape_mismatch("diagonal", "extents", shape_[a], shape_[b]);
  Shape shape = shape_;
  Strides strides = strides_;
  if (__builtin_add_overflow(strides[a], strides[b], &strides[a])) strides[a] = 0;  // of one element at most
  shape.erase(shape.begin() + second);
  strides.erase(strides.begin() + second);
  return derived("diagonal", std::move(shape), std::move(strides), offset_);
}

}  // namespace tile_tune::tensor
