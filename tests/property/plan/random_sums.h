// Random sums over products, judged in steps by what they mean as written.
#pragma once

#include <cstdint>

namespace tile_tune::test {

/// Every one by the reference in both forms, of `kernels` also the default schedule of the steps.
void judge_random_sums(uint64_t seed, int count, int kernels);

}  // namespace tile_tune::test
