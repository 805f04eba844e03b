// Elements of an output times a number.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/expected.h>

#include <complex>
#include <cstddef>

namespace tile_tune::engine {

/// Whether the type has the number: integers whole ones, bool 0 and 1, real types no imaginary part. Floats may round
/// it. Error: lossy-conversion.
tensor::Expected<void> check_scalar(std::complex<double> number, DType type);

/// As an element of the type, of which `to` has room for one.
void scalar_of(std::complex<double> number, DType type, std::byte* to);

/// In place; with 0 whatever the elements are. The array has a stride for each dimension.
void scale(const Array& array, std::complex<double> factor);

/// array = factor * array + term, of the same type and shape, elsewhere. Both have a stride for each dimension.
void scale_and_add(const Array& array, std::complex<double> factor, const Array& term);

}  // namespace tile_tune::engine
