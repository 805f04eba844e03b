// Eigen's tensor contraction, on its thread pool.
#pragma once

#include "prelude.h"

namespace baseline {
namespace eigen {

/// c = a times b, summed over Pairs dimensions of both ({of a, of b}); extents as the tensors lie in memory. What is
/// left of a, then of b, is brought into `order` if Shuffles. Each instantiation is a source of its own (calls.cpp),
/// since Eigen's templates take a compiler ten seconds.
template <typename T, int RankA, int RankB, int Pairs, bool Shuffles>
void contract(const T* a, const int64_t* a_extents, const T* b, const int64_t* b_extents, T* c,
              const int64_t* c_extents, const int (*pairs)[2], const int* order, int threads);

}  // namespace eigen
}  // namespace baseline
