// The reference interpreter: what a program means, computed slowly and obviously. The judge of every kernel.
//
// Floats are computed in double (sums compensated), integers in wrapping arithmetic of their own width;
// every statement's result is rounded to its element type before the next statement reads it (rulings 9).
// Beside each element stands how far a correct kernel may be from it (rulings 8):
//   4 * sqrt(K) * eps(accumulator) * sum|terms| + 2 * eps(output) * |value|, K the reduction length, with
//   the operands' own tolerances carried through to first order and 4 ulp for each transcendental; integers,
//   min, max and assign exactly. The constants are in reference/tolerance.h and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"
#include "frontend/tensor/array.h"

namespace tile_tune::reference {

/// Arrays by tensor number: every Input, and every InOut, of a bound program.
using Inputs = std::map<int, tensor::Array>;

/// What one output tensor must hold at some of its elements.
struct Expected {
  int tensor = -1;
  std::vector<int64_t> elements;   // positions in C order, ascending
  std::vector<double> values;      // for floats and Bool; integers that fit too
  std::vector<int64_t> integers;   // bit patterns for integer types (U64 as int64), else empty
  std::vector<double> tolerances;  // absolute; 0 means equal. NaN and infinities must match in kind
};

/// Every element of every output.
Result<std::vector<Expected>> evaluate(const ir::Program& program, const Inputs& inputs);

/// Only chosen elements: `samples` random ones of each output (seeded), and of each face (first and last
/// position of each dimension) up to `samples` as well, so that borders are always looked at. Programs whose outputs need
/// whole intermediate tensors evaluate those in full.
Result<std::vector<Expected>> evaluate_sample(const ir::Program& program, const Inputs& inputs, int64_t samples, uint64_t seed);

/// Cost of evaluate() in innermost iterations, to decide between the two.
double evaluation_cost(const ir::Program& program);

/// Values of an output as an array of its type (from a full evaluation).
tensor::Array to_array(const ir::Program& program, const Expected& expected);

struct Mismatch {
  int tensor;
  int64_t element;
  double got, expected, tolerance;
  int64_t count;  // how many elements of this tensor differ
};
struct Verdict {
  double worst = 0;  // largest |got - expected| / tolerance over toleranced elements; <= 1 passes
  std::optional<Mismatch> mismatch;  // the worst element, if any fails
};
/// Compares an output's C-ordered array against what is expected of it.
Verdict compare(const Expected& expected, const tensor::Array& got);

/// Seeded random inputs for tuning and checking (rulings 28): floats uniform in [-1, 1); integers small and
/// negative included; integer inputs used as subscripts uniform over the extent they index.
Inputs random_inputs(const ir::Program& program, uint64_t seed);

}  // namespace tile_tune::reference
