// What the functions are built of: names for shared values, strict operations, words of bits, polynomials, and numbers
// of two words.
//
// Operators on Exprs are free to be reordered and fused, and take for granted that neither NaN nor infinity occurs;
// those of `strict` are IEEE's and nothing else. A free a * b + c becomes a fused multiply-add where the CPU has it,
// but two of its kind in one sum may be put together otherwise: error terms are strict, product_error(), or fma() on
// one side of where_fused(), since the emulation of fma() is no quick arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

/// Names for values that are used several times: Halide walks expressions as trees until it has found common parts.
class Names {
 public:
  Halide::Expr operator()(const Halide::Expr& value);
  /// The result with all names around it.
  Halide::Expr around(Halide::Expr result) const;

 private:
  std::string prefix_ = Halide::Internal::unique_name('f');
  std::vector<std::pair<std::string, Halide::Expr>> names_;
};

inline bool is_single(const Halide::Expr& x) { return x.type().bits() == 32; }
Halide::Expr number(const Halide::Expr& like, double value);
Halide::Expr infinity(const Halide::Expr& like);
Halide::Expr not_a_number(const Halide::Expr& like);

namespace strict {
Halide::Expr add(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr sub(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr mul(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr div(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr less(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr at_most(const Halide::Expr& a, const Halide::Expr& b);  // not of NaN
Halide::Expr equal(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr is_nan(const Halide::Expr& x);
}  // namespace strict

/// The word of unsigned bits that a float is, and the way back. Signs are of the type's bits.
Halide::Expr bits_of(const Halide::Expr& x);
Halide::Expr float_of(const Halide::Expr& bits);
Halide::Expr word(const Halide::Expr& like, uint64_t bits);                    // of as many bits as `like`
uint64_t sign_mask(const Halide::Expr& x);                                     // 1 << 31 or 1 << 63
Halide::Expr sign_bit(const Halide::Expr& x);                                  // that where x is negative, or 0
Halide::Expr magnitude(const Halide::Expr& x);                                 // |x|, of NaN too
Halide::Expr with_sign(const Halide::Expr& x, const Halide::Expr& sign_bits);  // x ^ sign_bits

/// least <= x < most for positive bounds, of their bits: one comparison. Not of NaN.
Halide::Expr is_within(const Halide::Expr& x, double least, double most);
/// Whether x is neither zero nor subnormal, infinite, NaN or negative.
Halide::Expr is_positive_normal(const Halide::Expr& x);

/// f32 as f64 and back, where LLVM takes for granted that a conversion gives neither infinity nor NaN.
Halide::Expr widened(Names& names, const Halide::Expr& x);
Halide::Expr narrowed(Names& names, const Halide::Expr& x);

/// `fused` where fma() is an instruction and bits may differ between CPUs, and `portable` elsewhere.
Halide::Expr where_fused(const Halide::Expr& fused, const Halide::Expr& portable);

/// a * b + c, strict: rounded once where_fused(), and twice elsewhere.
Halide::Expr multiply_add(const Halide::Expr& a, const Halide::Expr& b, const Halide::Expr& c);

/// For vectors, too, which Halide::sqrt() is not.
Halide::Expr square_root(const Halide::Expr& x);

/// x^(-1/2) within 1.5 * 2^-12, of f32 that is a positive normal number: an instruction whose bits differ between CPUs.
Halide::Expr approximate_inverse_root(const Halide::Expr& x);
/// `approximate`, which may use that, where bits may differ and the CPU has it, and `exact` elsewhere.
Halide::Expr where_approximate(const Halide::Expr& approximate, const Halide::Expr& exact);

/// c[0] + c[1] x + c[2] x^2 ...: Horner's scheme, the fewest operations, or Estrin's, the shortest chain.
Halide::Expr horner(const Halide::Expr& x, const std::vector<double>& coefficients);
Halide::Expr estrin(Names& names, const Halide::Expr& x, const std::vector<double>& coefficients);
/// Even and odd powers apart: half as long a chain as Horner's, and no multiplication more where x^2 is there already.
Halide::Expr even_and_odd(const Halide::Expr& x, const Halide::Expr& square, const std::vector<double>& coefficients);
/// The one of the first two that takes less time in a loop: chains of many coefficients wait for themselves.
Halide::Expr polynomial(Names& names, const Halide::Expr& x, const std::vector<double>& coefficients);

/// An unevaluated sum of two floats, |low| <= ulp(high) / 2 (Dekker 1971; Muller et al., Handbook of Floating-Point
/// Arithmetic, chapter 4). All strict.
struct Pair {
  Halide::Expr high, low;
};
Pair two_sum(Names& names, const Halide::Expr& a, const Halide::Expr& b);
Pair fast_two_sum(Names& names, const Halide::Expr& a, const Halide::Expr& b);  // |a| >= |b| or a = 0
/// x without the lower half of its significand (12 of 24 bits, 26 of 53 stay), and the rest, exactly.
Pair halves(Names& names, const Halide::Expr& x);
/// a * b - product, where product is a * b rounded: exactly, unless that is below the least number or the product
/// almost beyond the largest.
Halide::Expr product_error(const Halide::Expr& a, const Halide::Expr& b, const Halide::Expr& product);
/// a * b exactly, likewise.
Pair two_product(Names& names, const Halide::Expr& a, const Halide::Expr& b);
Pair add(Names& names, const Pair& a, const Halide::Expr& b);  // |a| >= |b|
Pair add(Names& names, const Pair& a, const Pair& b);          // |a| >= |b|
Pair multiply(Names& names, const Pair& a, const Halide::Expr& b);
Pair multiply(Names& names, const Pair& a, const Pair& b);

}  // namespace tile_tune::codegen::functions
