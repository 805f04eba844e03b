// Where the elements of a tensor lie in memory.
//
// A pointer to a tensor shows element (0, ..., 0); element (i0, i1, ...) lies i0*s0 + i1*s1 + ... elements behind it.
// That is all a kernel is told, so that an offset is the caller's, and it takes elements to be aligned as their type
// alone asks for (decision 30).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/size_expr.h"

namespace tile_tune::ir {

struct Tensor;

/// A stride that the kernel takes from its buffer when it is called.
struct FromBuffer {
  auto operator<=>(const FromBuffer&) const = default;
};
/// In elements. Negative: reversed; 0: an input that says the same along the whole dimension. Of a bound program no
/// expression over sizes is left.
using Stride = std::variant<int64_t, SizeExpr, FromBuffer>;

class Storage {
 public:
  /// Compact, the last subscript fastest (numpy, C); strides follow from the extents.
  static Storage row() { return {}; }
  /// Compact, the first subscript fastest (Fortran).
  static Storage col();
  /// A stride for each dimension. `order`: the dimensions, that of neighbours in memory first; empty: as the strides
  /// have it, those from the buffer as rows or, where the first dimension's stride is 1, as columns.
  static Storage strided(std::vector<Stride> strides, std::vector<int> order = {});

  bool is_row() const { return strides_.empty() && !first_fastest_; }
  bool is_col() const { return strides_.empty() && first_fastest_; }
  bool is_compact() const { return strides_.empty(); }
  bool has_strides_from_buffer() const;

  /// Empty where they follow from the extents.
  const std::vector<Stride>& strides() const { return strides_; }
  /// The dimensions of an array of this rank, that of neighbours in memory first. What is strided has one rank; of
  /// other numbers of loops: the first or the last one first.
  std::vector<int> order(size_t rank) const;
  /// The order is another than strides alone would have.
  bool has_own_order() const;
  /// Names of sizes in strides.
  std::set<std::string> names() const;
  /// With numbers for sizes. Class Mismatch: what SizeExpr::bind() says.
  Result<Storage> bind(const Sizes& sizes) const;

  bool operator==(const Storage&) const = default;

 private:
  bool first_fastest_ = false;
  std::vector<Stride> strides_;
  std::vector<int> order_;
};

/// Strides of a tensor of these extents, in elements. For those from the buffer, which are no numbers yet, what
/// schedules are chosen and kernels judged with: rows that are padded.
std::vector<int64_t> strides(const Storage& storage, const std::vector<int64_t>& extents);
/// Of a bound tensor.
std::vector<int64_t> strides(const Tensor& tensor);

/// The dimensions of a tensor, that of neighbours in memory first.
std::vector<int> memory_order(const Tensor& tensor);

/// What lies between the first and the last element in memory, both included, counted in elements.
struct Reach {
  int64_t before = 0;  // element (0, ..., 0)
  int64_t count = 0;   // in all; 0 of a tensor without elements
};
Reach reach(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents);
Reach reach(const Tensor& tensor);

/// Whether two elements lie in one place. Of very large tensors whose strides interleave their elements: true.
bool has_overlap(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents);

/// Whether what lies between the first and the last element can be counted in bytes.
bool is_addressable(const std::vector<int64_t>& strides, const std::vector<int64_t>& extents, size_t element_size);

/// Class Program, "bad-layout": not a stride for each dimension, strides of what is no argument, a constant's from the
/// buffer.
Result<void> check_rank(const Tensor& tensor);

/// The one way to say it of a bound tensor: compact where that is what the strides say; a dimension of one element has
/// the stride 1. What check_rank() says; class Mismatch, "bad-layout": two elements of an output in one place, or
/// strides that reach beyond all memory.
Result<Storage> normal_storage(const Tensor& tensor);

/// Whether these are the numbers of so many dimensions, each once.
bool is_order(const std::vector<int>& order, size_t rank);

/// "row", "col", or strides: "4096,1", "K+16,1", "any,1"; with an order of their own "any,any,1@2,0,1".
std::string to_text(const Storage& storage);
/// Reads it. Class Program, "bad-layout".
Result<Storage> parse_storage(const std::string& text);

}  // namespace tile_tune::ir
