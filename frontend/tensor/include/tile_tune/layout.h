// Where the elements of a tensor lie: shape, strides and offset, and what views make of them.
//
// A Layout is a value that was checked when it was made: every element lies inside the buffer it is for, and no number
// overflows 64 bits. Extents, strides and offsets count elements. Operations make other layouts of the same buffer and
// touch no element; what does not fit is an Error with the operation and its numbers (docs/tensors.md). Part of the
// SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/expected.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tile_tune::tensor {

using Shape = std::vector<int64_t>;
using Strides = std::vector<int64_t>;

/// As many as tensors of programs have.
inline constexpr size_t kMaxRank = 32;

/// From `start` on, before `end`, every `step`-th. Bounds are rejected where they are outside, never moved. Negative
/// ones count from the end, but for an `end` of -1 with a negative step: that is before element 0.
struct Slice {
  int64_t start = 0, end = 0, step = 1;
};

class Layout {
 public:
  /// One element.
  Layout() = default;

  /// Compact, the first index fastest (as owned tensors have it), or the last.
  static Expected<Layout> column_major(Shape shape);
  static Expected<Layout> row_major(Shape shape);
  /// Any strides, negative ones and 0 too, of a buffer of `buffer` elements; `offset` is where element (0, ..., 0)
  /// lies.
  static Expected<Layout> strided(Shape shape, Strides strides, int64_t offset, int64_t buffer);

  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int64_t offset() const { return offset_; }
  int64_t buffer() const { return buffer_; }
  size_t rank() const { return shape_.size(); }
  int64_t element_count() const;

  /// First and last place that an element has; nothing without elements.
  struct Reach {
    int64_t first, last;
  };
  std::optional<Reach> reach() const;
  /// Neighbours in memory, the first index (the last) fastest; at any offset. True where there are no elements.
  bool is_column_major() const;
  bool is_row_major() const;
  /// An error where elements may lie in one place: a stride of 0, or what cannot be told from 4096 elements.
  Expected<void> check_mutable() const;

  /// Dimension d of the result is dimension `axes[d]` of this.
  Expected<Layout> transpose(const std::vector<int>& axes) const;
  /// One for each dimension. A dimension without elements has none afterwards, whatever its slice says.
  Expected<Layout> slice(const std::vector<Slice>& slices) const;
  /// The same elements in the same order, the first index fastest. Only of compact column-major layouts.
  Expected<Layout> reshape(Shape shape) const;
  /// Dimension d of this is dimension `axes[d]` of the result, of the same extent or repeated from extent 1; what no
  /// dimension becomes is repeated.
  Expected<Layout> broadcast(Shape shape, const std::vector<int>& axes) const;
  /// Elements whose indices along both dimensions are equal: `first` counts them, `second` is gone.
  Expected<Layout> diagonal(int first, int second) const;

  bool operator==(const Layout&) const = default;

 private:
  static Expected<Layout> checked(const char* operation, Shape shape, Strides strides, int64_t offset, int64_t buffer);
  Expected<Layout> derived(const char* operation, Shape shape, Strides strides, int64_t offset) const;

  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
  int64_t buffer_ = 1;
};

}  // namespace tile_tune::tensor
