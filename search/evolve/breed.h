// Making candidates: seeds before anything but the default is known, offspring of the best afterwards. Nothing here
// knows of budgets or clocks: what is bred follows from the generator and the population alone.
#pragma once

#include <string>
#include <vector>

#include "search/evolve/space_moves.h"
#include "search/evolve/population.h"

namespace tile_tune::search {

struct Candidate {
  codegen::Schedule schedule;
  std::string key;
  std::string origin;                // as Trial::origin
  std::vector<std::string> parents;  // as Trial::parents
  Notes notes = {};                  // of the moves that made it, those that led to known schedules included
};

/// Where the offspring come from.
enum class Mode {
  Exploit,  // few parents, mostly mutation, some crossover, few random
  Explore,  // many parents, every second random: leaves a local optimum
  Local,    // mutations of the best alone: coordinate steps around it
  Random,   // no parents at all: the honest baseline
};

/// Share of a guided batch that any of the pool may take, whatever the model predicts of them.
double random_share(Mode mode);

/// Exploit while batches still gain; after `stale_batches` without gain a turn of Explore, then Local, then over again.
Mode mode_after(int stale_batches);

/// Those of `first` that are new, in their order, then random ones until there are `count` (more if those are more).
std::vector<Candidate> seeds(const std::vector<Candidate>& first, int count, const Population& population,
                             const Moves& moves, Rng& rng);

/// `count` candidates never tried and different from one another; fewer only where long trying found no more, that
/// is, where the space is (all but) exhausted. Beyond the first `needed` it stops as soon as new ones are hard to find
/// near the parents.
std::vector<Candidate> breed(Mode mode, int count, int needed, const Population& population, const Moves& moves,
                             Rng& rng);

}  // namespace tile_tune::search
