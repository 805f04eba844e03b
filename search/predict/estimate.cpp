#include "search/predict/estimate.h"

#include <algorithm>

namespace tile_tune::predict {
namespace {

// Bytes a cycle that one core draws from its second cache, the last cache and memory: 32, 16 and 8 are the orders of
// magnitude of AVX-512 servers since 2017 (two Zen 4 cores stream 48 GB/s at 3.7 GHz: 6.5 a core).
constexpr double kFromL2 = 32, kFromL3 = 16, kFromMemory = 8;

// Vector multiply-adds and vector loads a cycle: two of each on x86 since Haswell.
constexpr double kOperations = 2, kLoads = 2;

// A spilled accumulator is loaded and stored around every operation on it.
constexpr double kSpill = 3;

// Cycles to set up a set of accumulators and to store it, for each of them: a zeroing and a store.
constexpr double kPerAccumulator = 2;

}  // namespace

double estimated_cycles(const StageFacts& facts, const codegen::Target& target) {
  const double natural = std::max<double>(target.vector_bytes / std::max(facts.element_bytes, 1.0), 1);
  const double lanes = facts.lanes > 0 ? facts.lanes * natural : 1;
  const double operation = std::max(lanes / natural, 1.0);  // natural vectors in one of the schedule's
  double arithmetic = operation / (kOperations * facts.latency);
  if (facts.pressure > 1) arithmetic *= 1 + kSpill * (1 - 1 / facts.pressure);
  // A strided vector is put together from single loads.
  double loads = operation * facts.loads / kLoads;
  if (facts.lanes > 0) loads += facts.strided * lanes / kLoads;
  const double set_up = kPerAccumulator * facts.accumulators / std::max(facts.body * facts.accumulate_trips, 1.0);
  const double store = facts.lanes > 0 && facts.store_stride > 1 ? lanes / std::max(facts.reduction, 1.0) : 0;
  const double core = (std::max(arithmetic, loads) + operation * set_up + store) / lanes;
  const double memory =
      std::max({facts.traffic_l1 / kFromL2, facts.traffic_l2 / kFromL3, facts.traffic_l3 / kFromMemory});
  const double copies = facts.copied * (facts.copy_stride > 1 ? 2 : 0.5);
  const double alone = facts.copied_alone * (target.threads - 1);  // the others wait
  return std::max(core, memory) * facts.wasted * facts.imbalance + copies + alone;
}

}  // namespace tile_tune::predict
