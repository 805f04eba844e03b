#include "search/evolve/tune.h"

#include "search/evolve/search.h"

namespace tile_tune::search {

const char* stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::Trials:
      return "trials";
    case StopReason::Time:
      return "time";
    case StopReason::Exhausted:
      return "exhausted";
    case StopReason::Stopped:
      return "stopped";
    case StopReason::DefaultFailed:
      return "default-failed";
  }
  return "stopped";
}

const char* finals_held_name(FinalsHeld held) {
  switch (held) {
    case FinalsHeld::Yes:
      return "yes";
    case FinalsHeld::Stopped:
      return "stopped";
    case FinalsHeld::OneFinalist:
      return "one-finalist";
    case FinalsHeld::NoTime:
      return "no-time";
  }
  return "stopped";
}

const char* strategy_name(Strategy strategy) {
  switch (strategy) {
    case Strategy::Model:
      return "model";
    case Strategy::Genetic:
      return "genetic";
    case Strategy::Random:
      return "random";
  }
  return "model";
}

std::optional<Strategy> parse_strategy(const std::string& name) {
  for (const Strategy strategy : {Strategy::Model, Strategy::Genetic, Strategy::Random})
    if (name == strategy_name(strategy)) return strategy;
  return std::nullopt;
}

Result<TuneReport> tune(const Moves& moves, Measurer& measurer, TrialSink& sink, const Priors& priors,
                        const TuneOptions& options, const Surroundings& surroundings) {
  Search search(moves, measurer, sink, priors, options, surroundings);

  // Seed: the default and the stored best whatever the budget, for all others are judged by them.
  TILE_TUNE_CHECK(search.try_batch(search.openers()));
  if (!search.default_verified()) return search.report(search.reason_without_default());
  search.plan_seeds();

  std::optional<StopReason> reason;
  while (!(reason = search.reason_to_stop())) {
    // Breed: many offspring of the best of everything measured.
    std::vector<Candidate> pool = search.breed();
    // Filter: what is hopeless on paper is not compiled.
    search.filter(pool);
    // Predict: the model picks a small batch, so that the next one knows what this one taught.
    TILE_TUNE_TRY(batch, search.pick(std::move(pool)));
    if (batch.empty()) reason = StopReason::Exhausted;
    if (reason) break;
    // Measure and record.
    TILE_TUNE_CHECK(search.try_batch(std::move(batch)));
  }

  // Finals: the search's own figures favour the lucky.
  TILE_TUNE_CHECK(reason == StopReason::Stopped ? search.keep_what_is_clear() : search.conclude());
  return search.report(search.interrupted() ? StopReason::Stopped : *reason);
}

}  // namespace tile_tune::search
