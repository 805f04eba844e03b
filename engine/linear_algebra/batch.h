// Matrices of a batch, each by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/linear_algebra/lapack.h"

namespace tile_tune::engine {

/// What LAPACK says of a matrix: 0, or why it failed.
struct Failure {
  int64_t entry;
  int info;
};

/// How many threads a batch of so many matrices is worth, each of about `flops`.
int threads_for(int64_t entries, double flops, int wanted);

/// Calls `work(entry, thread)` for all entries, until it is not 0: the first entry of which that was so. `work` throws
/// nothing.
std::optional<Failure> for_each_entry(int64_t entries, int threads, const lapack::Library& library,
                                      const std::function<int(int64_t entry, int thread)>& work);

}  // namespace tile_tune::engine
