// Conversions between halves and floats by F16C's instructions, which GCC 12 does not use in vectors by itself.
#pragma once

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "prelude.h"

namespace baseline {

constexpr int64_t kF16Vector = 8;
inline void convert_vector(const f16* from, float* to) {
#ifdef __F16C__
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < kF16Vector; ++i) to[i] = from[i];
#endif
}
inline void convert_vector(const float* from, f16* to) {
#ifdef __F16C__
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
#else
  for (int64_t i = 0; i < kF16Vector; ++i) to[i] = static_cast<f16>(from[i]);
#endif
}
template <typename From, typename To>
To* convert(const From* from, To* to, int64_t count, int threads) {
  const int64_t vectors = count / kF16Vector;
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (int64_t v = 0; v < vectors; ++v) convert_vector(from + v * kF16Vector, to + v * kF16Vector);
  for (int64_t i = vectors * kF16Vector; i < count; ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

}  // namespace baseline
