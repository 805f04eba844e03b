#include "search/evolve/moves.h"

namespace tile_tune::search {

using codegen::Schedule;

Moves moves_of(const Space& space) {
  return {.default_schedule = [&space] { return space.default_schedule(); },
          .sample = [&space](Rng& rng) { return space.sample(rng); },
          .mutate = [&space](const Schedule& parent, Rng& rng) { return space.mutate(parent, rng); },
          .crossover = [&space](const Schedule& a, const Schedule& b, Rng& rng) { return space.crossover(a, b, rng); },
          .key = codegen::schedule_id};
}

}  // namespace tile_tune::search
