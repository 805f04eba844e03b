// Integer expressions over size names: tensor extents and index bounds, symbolic until sizes are bound.
//
// A SizeExpr is kept in a normal form (a sum of integer multiples of distinct atoms plus a constant), so
// equal affine expressions compare equal and print alike: "H - KH + 1", "floor((I + 1)/2)", "min(A, B)".
// Atoms are names, floor(e/e), min, max and products of non-constants. Plain value; nothing throws.
// Arithmetic beyond 64 bits gives an expression that has overflowed: like a NaN it spreads to whatever is
// made of it, has no value, and is an error once it is bound.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::ir {

/// Values of size names.
using Sizes = std::map<std::string, int64_t>;

/// Of the least number, too.
inline uint64_t magnitude(int64_t number) {
  return number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
}

class SizeExpr {
 public:
  struct Atom;
  struct Term {
    int64_t coefficient;
    std::shared_ptr<const Atom> atom;
  };

  SizeExpr(int64_t constant = 0) : constant_(constant) {}  // NOLINT: integers convert on purpose
  static SizeExpr name(std::string name);

  friend SizeExpr operator+(const SizeExpr& a, const SizeExpr& b);
  friend SizeExpr operator-(const SizeExpr& a, const SizeExpr& b);
  friend SizeExpr operator*(const SizeExpr& a, const SizeExpr& b);
  SizeExpr operator-() const;
  static SizeExpr floor_div(const SizeExpr& a, const SizeExpr& b);
  static SizeExpr ceil_div(const SizeExpr& a, const SizeExpr& b);
  static SizeExpr mod(const SizeExpr& a, const SizeExpr& b);  // a - b*floor(a/b)
  static SizeExpr min(const SizeExpr& a, const SizeExpr& b);
  static SizeExpr max(const SizeExpr& a, const SizeExpr& b);

  /// The value if no name occurs in it.
  std::optional<int64_t> constant() const;
  /// Names that occur, sorted.
  std::set<std::string> names() const;
  /// Replaces every bound name; unbound ones stay. Division by zero, overflow: an error of class Mismatch.
  Result<SizeExpr> bind(const Sizes& sizes) const;

  /// The normal form: value = sum of coefficient * atom over terms() + offset(), unless overflowed().
  const std::vector<Term>& terms() const { return terms_; }
  int64_t offset() const { return constant_; }
  bool overflowed() const { return overflowed_; }

  std::string str() const;
  bool operator==(const SizeExpr& other) const { return str() == other.str(); }

 private:
  static SizeExpr from_atom(Atom atom);
  static SizeExpr overflow();

  std::vector<Term> terms_;  // sorted by the atom's text, coefficients non-zero
  int64_t constant_ = 0;
  bool overflowed_ = false;
};

/// What a normal form is a sum of. Name: `name`. FloorDiv: operands {numerator, denominator}. Min, Max: two
/// operands. Product: two non-constants.
struct SizeExpr::Atom {
  enum class Kind { Name, FloorDiv, Min, Max, Product } kind;
  std::string name;
  std::vector<SizeExpr> operands;

  std::string str() const;
};

}  // namespace tile_tune::ir
