#include "search/evolve/space_moves.h"

#include <memory>

namespace tile_tune::search {

using codegen::Schedule;

Moves moves_of(const Space& space) {
  const auto features = std::make_shared<const predict::Features>(space.program(), space.target());
  return {.default_schedule = [&space] { return space.default_schedule(); },
          .alternatives = [&space] { return space.default_alternatives(); },
          .sample = [&space](Rng& rng) { return space.sample(rng); },
          .mutate = [&space](const Schedule& parent, Rng& rng) { return space.mutate(parent, rng); },
          .crossover = [&space](const Schedule& a, const Schedule& b, Rng& rng) { return space.crossover(a, b, rng); },
          .key = codegen::schedule_id,
          .row = [features](const Schedule& schedule) { return features->row(schedule); },
          .estimate = [features](const Schedule& schedule) { return features->estimate(schedule); },
          .hopeless = [features](const Schedule& schedule) { return features->hopeless(schedule); }};
}

}  // namespace tile_tune::search
