#include "search/predict/estimate.h"

#include <algorithm>

#include "codegen/target/costs.h"

namespace tile_tune::predict {
namespace costs = codegen::costs;

double estimated_cycles(const StageFacts& facts, const codegen::Target& target) {
  const double natural = std::max<double>(target.vector_bytes / std::max(facts.element_bytes, 1.0), 1);
  const double lanes = facts.lanes > 0 ? facts.lanes * natural : 1;
  const double operation = std::max(lanes / natural, 1.0);  // natural vectors in one of the schedule's
  double arithmetic = operation / (costs::kOperations * facts.latency);
  if (facts.pressure > 1) arithmetic *= 1 + costs::kSpill * (1 - 1 / facts.pressure);
  // A strided vector is put together from single loads.
  double loads = operation * facts.loads / costs::kLoads;
  if (facts.lanes > 0) loads += facts.strided * lanes / costs::kLoads;
  const double set_up =
      costs::kPerAccumulator * facts.accumulators / std::max(facts.body * facts.accumulate_trips, 1.0);
  const double store = facts.lanes > 0 && facts.store_stride > 1 ? lanes / std::max(facts.reduction, 1.0) : 0;
  const double core = (std::max(arithmetic, loads) + operation * set_up + store) / lanes;
  const double memory = std::max(
      {facts.traffic_l1 / costs::kFromL2, facts.traffic_l2 / costs::kFromL3, facts.traffic_l3 / costs::kFromMemory});
  const double copies = facts.copied * (facts.copy_stride > 1 ? costs::kCopiedByElements : costs::kCopiedInRows);
  const double alone = facts.copied_alone * (target.threads - 1);  // the others wait
  return std::max(core, memory) * facts.wasted * facts.imbalance + copies + alone;
}

}  // namespace tile_tune::predict
