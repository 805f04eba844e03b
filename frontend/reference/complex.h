// Complex numbers of the reference: arithmetic on both parts at once, with one error for both (value.h).
//
// Products and quotients are computed part by part, (ac - bd) + (ad + bc)i, without the special cases that C's Annex G
// has for infinities: that is what kernels do.
#pragma once

#include "frontend/reference/value.h"

namespace tile_tune::reference {

/// Add, Sub, Mul, Div, Neg, Eq and Ne; the last two give Bool. Others are type errors (frontend/ir/validate.h).
Value apply_complex(const Operation& operation, const Value& a, const Value& b);

/// Of a factor in PartialProducts: the larger part's; NaN where a part is.
double factor_magnitude(const Value& value);
/// Both parts are.
bool is_finite(const Value& value);
/// What a product may be as well because its factors are multiplied in any order; adds to its error what that costs.
Outcomes outcomes_of_orders(const PartialProducts& factors, const Precision& type, Value& product);

/// Between two complex types, or from a number or Bool to a complex type. Nothing else converts.
Value convert_to_complex(DType from, DType to, const Value& value);

/// The product, the error of its operands carried through it, without rounding of its own.
Value complex_product(const Value& a, const Value& b);

/// Largest of both parts' magnitudes.
inline double part_magnitude(const Value& value) { return std::max(std::abs(value.real), std::abs(value.imaginary)); }

}  // namespace tile_tune::reference
