#include "frontend/reference/complex.h"

#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

using ir::Op;

// Sum of both parts' magnitudes: what a part of a product is at most, per unit of the other factor's error.
double magnitude_sum(const Value& value) { return std::abs(value.real) + std::abs(value.imaginary); }

// A bound that is not known (0 times infinity, or beside a part that is not finite) leaves the finite part open.
Value with_error(double real, double imaginary, double error) {
  Value result{real, 0, std::isnan(error) ? std::numeric_limits<double>::infinity() : error};
  result.imaginary = imaginary;
  if (!std::isfinite(real) && !std::isfinite(imaginary)) result.error = 0;
  return result;
}

// `magnitude`: the largest number rounded on the way to either part.
Value rounded(const Operation& operation, const Value& value, double magnitude, double roundings = 1) {
  Value result = with_error(value.real, value.imaginary,
                            value.error + roundings * operation.ulps * ulp(operation.precision, magnitude));
  if (std::isfinite(magnitude) && magnitude > operation.precision.largest) result.also = kInfinities | kNotANumber;
  if (magnitude < operation.precision.least_normal()) result.also |= kZero;
  return result;
}

Value quotient(const Operation& operation, const Value& a, const Value& given) {
  // A divisor of about 1, so that its square has no range of its own.
  const double largest = std::max(std::abs(given.real), std::abs(given.imaginary));
  const int exponent = std::isfinite(largest) && largest > 0 ? -std::ilogb(largest) : 0;
  const auto scaled = [exponent](double x) { return std::ldexp(x, exponent); };
  Value b{scaled(given.real), 0, scaled(given.error)};
  b.imaginary = scaled(given.imaginary);
  const double norm = b.real * b.real + b.imaginary * b.imaginary;
  const double real = scaled((a.real * b.real + a.imaginary * b.imaginary) / norm);
  const double imaginary = scaled((a.imaginary * b.real - a.real * b.imaginary) / norm);
  const double size = std::sqrt(norm);
  const double error = a.error == 0 && b.error == 0
                           ? 0
                           : std::sqrt(2.0) * (scaled(a.error) + std::hypot(real, imaginary) * b.error) / size;
  // The numerator's products, the norm and the division round once each, all at this size.
  Value result =
      rounded(operation, with_error(real, imaginary, error), scaled(magnitude_sum(a) * magnitude_sum(b) / norm), 3);
  // Formulas for quotients differ in what they make of zeros and infinities.
  const bool is_open = given.error > 0 && largest <= given.error;
  if (is_open || result.also != 0 || !std::isfinite(real) || !std::isfinite(imaginary) || !std::isfinite(largest))
    result.also = kAnything;
  return result;
}

Value arithmetic(const Operation& operation, const Value& a, const Value& b) {
  switch (operation.op) {
    case Op::Add: {
      const Value sum = with_error(a.real + b.real, a.imaginary + b.imaginary, a.error + b.error);
      return rounded(operation, sum, part_magnitude(sum));
    }
    case Op::Sub: {
      const Value difference = with_error(a.real - b.real, a.imaginary - b.imaginary, a.error + b.error);
      return rounded(operation, difference, part_magnitude(difference));
    }
    case Op::Mul: {
      // A part is the difference of two products, each rounded: half an ulp of both and of the difference.
      const double magnitude = std::max(std::abs(a.real * b.real) + std::abs(a.imaginary * b.imaginary),
                                        std::abs(a.real * b.imaginary) + std::abs(a.imaginary * b.real));
      Value product = rounded(operation, complex_product(a, b), magnitude);
      // A kernel may leave out what the imaginary part, 0, of a real factor is multiplied by.
      if (operation.by_real && !(is_finite(a) && is_finite(b))) product.also |= kInfinities | kNotANumber;
      return product;
    }
    case Op::Div:
      return quotient(operation, a, b);
    case Op::Conj:
      return with_error(a.real, -a.imaginary, a.error);
    default:
      return with_error(-a.real, -a.imaginary, a.error);
  }
}

}  // namespace

Value complex_product(const Value& a, const Value& b) {
  const double error = a.error == 0 && b.error == 0
                           ? 0
                           : magnitude_sum(a) * b.error + magnitude_sum(b) * a.error + 2 * a.error * b.error;
  return with_error(a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real, error);
}

double factor_magnitude(const Value& value) {
  return std::isnan(value.imaginary) ? value.imaginary : part_magnitude(value);
}

bool is_finite(const Value& value) { return std::isfinite(value.real) && std::isfinite(value.imaginary); }

Outcomes outcomes_of_orders(const PartialProducts& factors, const Precision& type, Value& product) {
  // Of infinite parts the order of the factors says which are NaN in the end, as does 1 if it is among them.
  if (!factors.all_finite()) return kInfinities | kNotANumber;
  return factors.outside_range(type, part_magnitude(product), product.error) != 0 ? kAnything : 0;
}

Value apply_complex(const Operation& operation, const Value& a, const Value& b) {
  const Outcomes also = a.also | b.also;
  if (operation.op != Op::Eq && operation.op != Op::Ne) {
    Value result = arithmetic(operation, a, b);
    // Parts mix: what one of them may be shows in both.
    if (also != 0) result.also |= also | kInfinities | kNotANumber | kZero;
    if (also != 0 && operation.op == Op::Div) result.also = kAnything;
    return result;
  }
  const bool equal = a.real == b.real && a.imaginary == b.imaginary;
  const double error = a.error + b.error;
  const bool uncertain =
      error > 0 && std::abs(a.real - b.real) <= error && std::abs(a.imaginary - b.imaginary) <= error;
  return {0, operation.op == Op::Eq ? equal : !equal, uncertain || also != 0 ? 1.0 : 0.0};
}

Value convert_to_complex(DType from, DType to, const Value& value) {
  const DType part = component_type(to);
  if (!is_complex(from)) return convert(from, part, value);
  const Value real = convert(component_type(from), part, {value.real, 0, value.error});
  const Value imaginary = convert(component_type(from), part, {value.imaginary, 0, value.error});
  Value result = with_error(real.real, imaginary.real, std::max(real.error, imaginary.error));
  result.also = value.also | real.also | imaginary.also;
  return result;
}

}  // namespace tile_tune::reference
