// Arguments to try functions with.
#pragma once

#include <cstdint>
#include <cstddef>
#include <vector>

namespace tile_tune::codegen::functions {

/// Zeros, infinities, NaN, the ends of the type's subnormal and normal numbers, small integers and halves, and the ends
/// of where exponential functions are numbers; each with its neighbours and of both signs.
template <typename T>
std::vector<T> special_values();

/// Random words of bits: numbers of every size; of both signs or none.
template <typename T>
std::vector<T> of_every_size(size_t count, uint64_t seed);

template <typename T>
std::vector<T> between(T least, T most, size_t count, uint64_t seed);

/// All that above: a third each of every size, between -2 and 2, and between -100 and 100 (f64: -800 and 800).
template <typename T>
std::vector<T> samples(size_t count, uint64_t seed);

}  // namespace tile_tune::codegen::functions
