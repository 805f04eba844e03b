// The best schedules by prediction alone: nothing is compiled, nothing is measured.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "search/evolve/space_moves.h"
#include "search/timing/deadline.h"

namespace tile_tune::search {

struct Predicted {
  codegen::Schedule schedule;
  double cycles = 0;  // the rough time (Moves::estimate), to rank by
};

/// Breeds schedules of the default, those close to it and random ones until `considered` different ones were looked at,
/// or earlier at the deadline, or where nothing new is found. The best `kept`, the fastest first.
std::vector<Predicted> best_predicted(const Moves& moves, uint64_t seed, int considered, size_t kept, Deadline deadline,
                                      const std::atomic<bool>& stop);

}  // namespace tile_tune::search
