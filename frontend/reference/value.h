// Numbers of the reference: a value and how far a correct kernel's value may be from it, to first order.
//
// Floats are held in double and not rounded within an expression; the error of a node is what its operands carry
// through it plus the rounding of the operation in the node's own type (tolerance.h). Integers and Bool (0 or 1)
// are exact unless they come from a float that is not: a comparison whose operands are within their errors of each
// other may turn out either way in a kernel, so its result has error 1, and a select on it may be either branch.
#pragma once

#include <cstdint>

#include "frontend/ir/expr.h"
#include "frontend/reference/outcomes.h"

namespace tile_tune::reference {

struct Value {
  double real = 0;      // of a float type, or the real part of a complex one
  int64_t integer = 0;  // of an integer type (U64 as its bit pattern) or Bool
  double error = 0;  // absolute, of each part; 0: exact. Always 0 where the value is infinite or NaN (both parts are)
  double imaginary = 0;
  Outcomes also = 0;  // of floats and parts of complex numbers: what a right kernel may have instead
  // Rounded to nearest it is an infinity, and `real` the largest number, which its bound reaches. Known of a value that
  // was rounded last.
  bool beyond = false;
};

/// A Call resolved once: what apply() needs beside the operands.
struct Operation {
  ir::Op op = ir::Op::Add;
  DType operands = DType::F32;  // of the last operand: Select's first one is Bool, the others agree
  bool real = true;             // is_float(operands)
  bool complex = false;         // is_complex(operands)
  Precision precision;          // of the result
  double ulps = 0;              // rounding of this operation
  bool by_real = false;         // a complex product one of whose factors is a real number
};

Operation make_operation(ir::Op op, DType operands, DType result);

Value apply(const Operation& operation, const Value& a, const Value& b, const Value& c);

/// The casts of docs/meaning.md.
Value convert(DType from, DType to, const Value& value);

/// Min and Max of one type: NaN wins (expr.h).
Value min_or_max(bool maximum, DType type, bool real, const Value& a, const Value& b);

/// A real number that may be approximate: no error where it is not finite, an infinite one where none is known
/// (0 times an infinite error).
inline Value approximate(double real, double error, Outcomes also = 0) {
  if (!std::isfinite(real)) return {real, 0, 0, 0, also};
  return {real, 0, std::isnan(error) ? std::numeric_limits<double>::infinity() : error, 0, also};
}

/// An inexact number, rounded to a float type: `error` is what it is off by afterwards.
Value rounded_to(DType type, double real, double error, Outcomes also);

}  // namespace tile_tune::reference
