#include "search/evolve/breed.h"

#include <algorithm>
#include <optional>

namespace tile_tune::search {
namespace {

// Shares of 70 % mutation, 20 % crossover, 10 % random, and four parents while batches gain, 16 and half random when
// they stall: decision 25.
struct Mix {
  size_t parents;
  double random, crossover;  // the rest is mutation
};
constexpr Mix kExploit{4, 0.10, 0.20};
constexpr Mix kExplore{16, 0.50, 0.20};
constexpr Mix kLocal{1, 0.0, 0.0};
constexpr Mix kRandom{0, 1.0, 0.0};

// Three batches without gain before the search leaves the incumbent's surroundings for one (decision 25), then as many
// local ones; then from the start.
constexpr int kExploitBatches = 3, kExploreBatches = 1, kLocalBatches = 3;

constexpr int kTriesPerStep = 8;   // known offspring in a row before they are mutated one step further
constexpr int kMaxExtraSteps = 7;  // beyond that a random schedule is as good

Mix mix_of(Mode mode) {
  switch (mode) {
    case Mode::Exploit:
      return kExploit;
    case Mode::Explore:
      return kExplore;
    case Mode::Local:
      return kLocal;
    case Mode::Random:
      return kRandom;
  }
  return kRandom;
}

/// A tournament of two among the best `parents`: their weights fall linearly with their rank.
const Member& select(const Population& population, size_t parents, Rng& rng) {
  const size_t n = std::min(parents, population.ranked.size());
  const size_t first = rng.below(n), second = rng.below(n);
  return population.ranked[std::min(first, second)];
}

enum class Operator { Sample, Crossover, Mutate };

Operator choose(const Mix& mix, const Population& population, Rng& rng) {
  if (population.ranked.empty() || rng.chance(mix.random)) return Operator::Sample;
  const bool crossover = rng.chance(mix.crossover) && std::min(mix.parents, population.ranked.size()) > 1;
  return crossover ? Operator::Crossover : Operator::Mutate;
}

Candidate candidate(Drawn drawn, const char* origin, std::vector<std::string> parents) {
  return {std::move(drawn.schedule), "", origin, std::move(parents), std::move(drawn.notes)};
}

Candidate offspring(Operator op, size_t parents, const Population& population, const Moves& moves, Rng& rng) {
  if (op == Operator::Sample) return candidate(moves.sample(rng), "random", {});
  const Member& a = select(population, parents, rng);
  if (op == Operator::Mutate) return candidate(moves.mutate(a.schedule, rng), "mutation", {a.key});
  const Member* b = &a;
  while (b == &a) b = &select(population, parents, rng);
  return candidate(moves.crossover(a.schedule, b->schedule, rng), "crossover", {a.key, b->key});
}

/// One new candidate. The operator is chosen once, lest known offspring shift its share. Around a well-explored
/// incumbent most offspring are known: they are then taken further and further from their parents, and in the end at
/// random. The tries grow with the number of known schedules, so that under uniform sampling the last of n schedules
/// is missed with probability exp(-8).
/// `needed`: whatever it takes; else only a few tries without further steps.
std::optional<Candidate> fresh(const Mix& mix, bool needed, const Population& population,
                               const std::unordered_set<std::string>& taken, const Moves& moves, Rng& rng) {
  const Operator op = choose(mix, population, rng);
  const size_t tries =
      needed ? kTriesPerStep * (kMaxExtraSteps + 1 + population.tried.size() + taken.size()) : kTriesPerStep;
  Notes notes;
  const auto note = [&](const Notes& more) { notes.insert(notes.end(), more.begin(), more.end()); };
  for (size_t i = 0; i < tries; ++i) {
    const size_t extra_steps = i / kTriesPerStep;
    const bool at_random = op == Operator::Sample || extra_steps > kMaxExtraSteps;
    Candidate candidate = offspring(at_random ? Operator::Sample : op, mix.parents, population, moves, rng);
    note(candidate.notes);
    for (size_t step = 0; !at_random && step < extra_steps; ++step) {
      Drawn further = moves.mutate(candidate.schedule, rng);
      candidate.schedule = std::move(further.schedule);
      note(further.notes);
    }
    candidate.key = moves.key(candidate.schedule);
    if (population.tried.count(candidate.key) || taken.count(candidate.key)) continue;
    candidate.notes = std::move(notes);
    return candidate;
  }
  return std::nullopt;
}

void fill(std::vector<Candidate>& candidates, int count, int needed, const Mix& mix, const Population& population,
          std::unordered_set<std::string> taken, const Moves& moves, Rng& rng) {
  while (static_cast<int>(candidates.size()) < count) {
    const bool must = static_cast<int>(candidates.size()) < needed;
    auto candidate = fresh(mix, must, population, taken, moves, rng);
    if (!candidate) return;
    taken.insert(candidate->key);
    candidates.push_back(std::move(*candidate));
  }
}

}  // namespace

double random_share(Mode mode) { return mix_of(mode).random; }

Mode mode_after(int stale_batches) {
  const int turn = stale_batches % (kExploitBatches + kExploreBatches + kLocalBatches);
  if (turn < kExploitBatches) return Mode::Exploit;
  return turn < kExploitBatches + kExploreBatches ? Mode::Explore : Mode::Local;
}

std::vector<Candidate> seeds(const std::vector<Candidate>& first, int count, const Population& population,
                             const Moves& moves, Rng& rng) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string> taken;
  for (const Candidate& candidate : first)
    if (!population.tried.count(candidate.key) && taken.insert(candidate.key).second) candidates.push_back(candidate);
  fill(candidates, count, count, kRandom, population, taken, moves, rng);
  return candidates;
}

std::vector<Candidate> breed(Mode mode, int count, int needed, const Population& population, const Moves& moves,
                             Rng& rng) {
  std::vector<Candidate> candidates;
  fill(candidates, count, needed, mix_of(mode), population, {}, moves, rng);
  return candidates;
}

}  // namespace tile_tune::search
