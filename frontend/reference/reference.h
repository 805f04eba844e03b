// The reference interpreter: what a program means, computed slowly and obviously. The judge of every kernel.
//
// Floats are computed in double (sums compensated), integers in wrapping arithmetic of their own width;
// every statement's result is rounded to its element type before the next statement reads it (decision 10).
// Beside each element stands how far a correct kernel may be from it (decision 11):
//   4 * sqrt(K) * eps(accumulator) * sum|terms| + 2 * eps(output) * |value|, K the reduction length, with
//   the operands' own tolerances carried through to first order and 4 ulp for each transcendental; integers,
//   min, max and assign exactly. The constants are in reference/tolerance.h and nowhere else.
// And what it may be instead where a type's range is left on the way (reference/outcomes.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/index_checks.h"
#include "frontend/ir/program.h"
#include "frontend/tensor/array.h"

namespace tile_tune::reference {

/// Arrays by tensor number: every Input, and every InOut, of a bound program.
using Inputs = std::map<int, tensor::Array>;

/// What one output tensor must hold at some of its elements.
struct Expected {
  int tensor = -1;
  std::vector<int64_t> elements;         // positions in C order, ascending
  std::vector<double> values;            // for floats and Bool, integers that fit too, real parts of complex numbers
  std::vector<int64_t> integers;         // bit patterns for integer types (U64 as int64), else empty
  std::vector<double> tolerances;        // absolute; 0 means equal. NaN and infinities must match in kind
  std::vector<double> imaginaries = {};  // parts of complex numbers, else empty
  std::vector<uint8_t> also = {};        // what else is right (outcomes.h), of floats and parts; empty: nothing
  std::vector<int64_t> beyond = {};  // elements whose value is the largest number and, rounded to nearest, an infinity
};

/// What becomes of indices outside of their tensors, known at run time only: an error, or the index inside that is
/// nearest to their low 32 bits (of a tensor without elements 0 is read), as kernels have it. In a branch of a select
/// that is not taken they are no error.
enum class OutsideIndices { AreErrors, BecomeNearest };

/// Every element of every output, in the order of Program::outputs. Errors: inputs that do not fit the program
/// ("missing-input", "input-type", "input-shape") and accesses outside of a tensor ("gather-out-of-range" for
/// subscripts that are read, "access-out-of-range" for others), class Mismatch; "unbound-program",
/// class Program; "out-of-memory".
Result<std::vector<Expected>> evaluate(const ir::Program& program, const Inputs& inputs,
                                       OutsideIndices outside = OutsideIndices::AreErrors);

/// The first index that a statement uses outside of its tensor, in the order of `checks` (of the program), is the error
/// "gather-out-of-range": it names the index, its value and its place. Only what indices depend on is computed.
Result<void> check_indices(const ir::Program& program, const Inputs& inputs, const std::vector<ir::IndexCheck>& checks);

/// Only chosen elements: `samples` random ones of each output (seeded), and of each face (first and last position
/// of each dimension) up to `samples` as well, so that borders are always looked at. Of intermediate tensors only
/// what these depend on is computed. Outputs of statements that are not in gather form (ir/gather.h) are evaluated in
/// full. The same seed chooses the same elements on every platform.
Result<std::vector<Expected>> evaluate_sample(const ir::Program& program, const Inputs& inputs, int64_t samples,
                                              uint64_t seed, OutsideIndices outside = OutsideIndices::AreErrors);

/// About how long evaluate() takes for a bound program on one core, to decide between the two. It uses all of them.
double evaluation_seconds(const ir::Program& program);

/// Values of an output as an array of its type (from a full evaluation).
tensor::Array to_array(const ir::Program& program, const Expected& expected);

struct Mismatch {
  int tensor;
  int64_t element;
  double got, expected, tolerance;
  int64_t count;  // how many elements of this tensor differ
};
struct Verdict {
  /// Largest |got - expected| / tolerance over toleranced elements; <= 1 passes. Infinite where an exact element
  /// differs, or NaN or an infinity does not match.
  double worst = 0;
  std::optional<Mismatch> mismatch;  // the worst element, if any fails
};
/// Both parts of a complex number must lie within its tolerance; a mismatch shows the worse one.
/// Compares an output's whole C-ordered array against what is expected of it. Elements the array does not have
/// count as NaN.
Verdict compare(const Expected& expected, const tensor::Array& got);

/// Where float inputs are drawn from: uniform in [lo, hi).
struct FloatRange {
  double lo = -1, hi = 1;
};

/// Seeded random inputs for tuning and checking (decision 12), equal on every platform: floats, and parts of complex
/// numbers, uniform in `range`; signed integers in [-8, 8), unsigned ones in [0, 16); integer inputs used as subscripts
/// uniform over the extent they index.
Inputs random_inputs(const ir::Program& program, uint64_t seed, FloatRange range = {});

/// `ordinary` with zeros of both signs, infinities, NaN and subnormal numbers in place of some floats, about one in two
/// rows of the longest reduction: results that are all NaN would tell nothing. Numbers that serve as subscripts stay.
/// Nothing where no input is a float.
std::optional<Inputs> special_inputs(const ir::Program& program, Inputs ordinary, uint64_t seed);

/// True if at most 1 % of the elements are not finite.
bool is_mostly_finite(const std::vector<Expected>& outputs);

/// The first of [-1, 1), [1/8, 1) and [1, 2) for which a sample of the outputs is mostly finite (logarithms and roots
/// of negative numbers are not), or [-1, 1) if there is none. Records name any other than [-1, 1).
Result<FloatRange> finite_range(const ir::Program& program, uint64_t seed);

}  // namespace tile_tune::reference
