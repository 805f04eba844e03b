// One element while its terms are combined: the operator, compensated sums, and the error bound of the result.
#pragma once

#include "frontend/ir/program.h"
#include "frontend/reference/value.h"

namespace tile_tune::reference {

/// Elements in even steps through a tensor, and what they may be off by.
struct Run {
  const std::byte* data = nullptr;
  const double* errors = nullptr;  // null: exact
  const Outcomes* also = nullptr;  // null: nothing else
  int64_t first = 0, step = 0;
};

/// What all elements of a statement share.
struct ReductionKind {
  ir::Aggregation op;
  DType accumulator, target;
  bool real;     // accumulator is a float type
  bool complex;  // ... a complex one
  bool flushes;  // sums of bf16's products, which the instructions for them make 0 where they are subnormal
};

class Reduction {
 public:
  /// Starts from the identity of the operator in the target's type.
  explicit Reduction(const ReductionKind& kind);
  /// Starts from an element of the target's type.
  Reduction(const ReductionKind& kind, const Value& previous);

  /// Combines a term of the accumulator's type.
  void add(const ReductionKind& kind, const Value& term) {
    ++terms_;
    if (kind.real)
      add_real(kind, term);
    else if (kind.complex)
      add_complex(kind, term);
    else
      add_integer(kind, term);
  }

  /// Combines `count` products of the two runs' elements, all of the accumulator's type, F32 or F64, which must be
  /// summed and leave their rounding to the sum: what add() does with each of them, in another order.
  void add_products(const ReductionKind& kind, const Run& a, const Run& b, int64_t count);

  /// Terms added, not counting the start.
  int64_t terms() const { return terms_; }

  /// The result in the target's type, rounded, with its error.
  Value finish(const ReductionKind& kind) const;

 private:
  void add_magnitude(double term);
  void add_real(const ReductionKind& kind, const Value& term);
  void allow_other_terms(const ReductionKind& kind, const Value& term);
  void leave_range(const ReductionKind& kind, Value& result) const;
  void add_complex(const ReductionKind& kind, const Value& term);
  void add_integer(const ReductionKind& kind, const Value& term);
  void add_uncertain_products(const ReductionKind& kind, const Run& a, const Run& b, int64_t count);
  double systematic_error(const Value& sum) const;
  template <typename T, bool kExact>
  void add_products_of(const Run& a, const Run& b, int64_t count);

  Value value_;
  double compensation_ = 0;  // what the additions to value_.real lost
  double imaginary_compensation_ = 0;
  double in_turn_ = 0;  // the sum of a kernel that adds one term after the other, each addition rounded
  double imaginary_in_turn_ = 0;
  double positive_ = 0, negative_ = 0;  // sums of |terms| of a sign: of their difference the smaller one may be lost
  double magnitude_ = 0;                // of complex terms the sum of their larger parts'
  bool left_double_ = false;            // a product of finite factors did
  PartialProducts partial_products_;    // of products
  int64_t terms_ = 0;
  bool has_previous_ = false;
};

}  // namespace tile_tune::reference
