#include "search/evolve/predicted.h"

#include <algorithm>
#include <set>

namespace tile_tune::search {
namespace {

// Parents are the best of what was seen; a tenth of all is drawn at random, so that no shape is missed for good.
constexpr size_t kParents = 48;
constexpr int kRandomFirst = 200, kMostInVain = 1000;
constexpr double kRandomShare = 0.1, kMutants = 0.7;

}  // namespace

std::vector<Predicted> best_predicted(const Moves& moves, uint64_t seed, int considered, size_t kept, Deadline deadline,
                                      const std::atomic<bool>& stop) {
  Rng rng(seed);
  std::vector<Predicted> best;
  std::set<std::string> seen;
  const auto consider = [&](codegen::Schedule schedule) {
    if (!seen.insert(moves.key(schedule)).second) return false;
    const double cycles = moves.estimate(schedule);
    const auto at = std::upper_bound(best.begin(), best.end(), cycles,
                                     [](double value, const Predicted& one) { return value < one.cycles; });
    best.insert(at, {std::move(schedule), cycles});
    if (best.size() > std::max(kParents, kept)) best.pop_back();
    return true;
  };
  const auto offspring = [&] {
    const bool first = static_cast<int>(seen.size()) < kRandomFirst;
    if (first || rng.chance(kRandomShare)) return moves.sample(rng).schedule;
    const codegen::Schedule& parent = rng.pick(best).schedule;
    if (rng.chance(kMutants)) return moves.mutate(parent, rng).schedule;
    return moves.crossover(parent, rng.pick(best).schedule, rng).schedule;
  };
  consider(moves.default_schedule());
  for (auto& schedule : moves.alternatives()) consider(std::move(schedule));
  int in_vain = 0;
  while (static_cast<int>(seen.size()) < considered && in_vain < kMostInVain && !stop && deadline.left() > 0) {
    codegen::Schedule schedule = offspring();
    const bool hopeless = moves.hopeless && moves.hopeless(schedule);
    in_vain = !hopeless && consider(std::move(schedule)) ? 0 : in_vain + 1;
  }
  if (best.size() > kept) best.resize(kept);
  return best;
}

}  // namespace tile_tune::search
