// Integer changes of variables: x = columns * y + offset, built by column operations (private to frontend/ir).
//
// Starts as the identity. Operations are unimodular, but for scale(), which keeps the sublattice of multiples.
// Source: Schrijver, Theory of Linear and Integer Programming, chapter 4. Arithmetic is checked: what exceeds 64 bits
// sets overflowed(), and numbers are then meaningless.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/expr.h"

namespace tile_tune::ir {

class ChangeOfVariables {
 public:
  explicit ChangeOfVariables(size_t count);

  size_t size() const { return columns_.size(); }
  bool overflowed() const { return overflowed_; }

  /// Column `to` += factor * column `from`.
  void add(size_t to, size_t from, int64_t factor);
  void negate(size_t k) { scale(k, -1); }
  void scale(size_t k, int64_t factor);
  /// y_k is replaced by y_k + by.
  void shift(size_t k, int64_t by);

  /// Of y_k in the numerator of an expression over x, and the numerator's constant.
  int64_t coefficient(const AffineExpr& expr, size_t k) const;
  int64_t constant(const AffineExpr& expr) const;
  /// The expression over y. A denominator that divides all numbers is divided out.
  AffineExpr apply(const AffineExpr& expr) const;
  /// x_i over y.
  AffineExpr old_index(size_t i) const { return apply(AffineExpr::index(static_cast<int>(i))); }
  /// True if x_i is y_i.
  bool keeps(size_t i) const;
  /// x of a y.
  std::vector<int64_t> old_point(const std::vector<int64_t>& y) const;

  /// Euclid's algorithm on the expression's numerator over the columns `among`: afterwards at most one of them has a
  /// coefficient, a positive one, and is returned. The smallest coefficient becomes the pivot, the first in `among` if
  /// there are several: an index with coefficient 1 absorbs the others. With a modulus, coefficients count modulo it.
  std::optional<size_t> concentrate(const AffineExpr& expr, const std::vector<size_t>& among, int64_t modulus = 0);

 private:
  int64_t checked_add(int64_t a, int64_t b) const;
  int64_t checked_multiply(int64_t a, int64_t b) const;
  int64_t checked_dot(const AffineExpr& expr, const std::vector<int64_t>& x, int64_t constant) const;

  std::vector<std::vector<int64_t>> columns_;
  std::vector<int64_t> offset_;
  mutable bool overflowed_ = false;
};

}  // namespace tile_tune::ir
