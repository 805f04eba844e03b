// The evolutionary search: tries schedules of one program until a budget is spent, and says which one won.
//
// Pools are bred from the best of everything measured; of a pool, a learned cost model picks a small batch, which is
// measured and recorded, and so on; then the best few are timed against the default once more in the finals. Ranking is
// by speed relative to the default, paired within one run.
// All decisions follow from the seed, the priors and the measurements: the same of these give the same sequence of
// trials. Clock and budgets only end it. A plateau does not: a search that gains nothing more explores until the
// budget is spent, the space has no schedule left that was not tried, or someone stops it.
// Fails only if the sink fails; whatever happens to candidates is in the report.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/evolve/budget.h"
#include "search/evolve/events.h"
#include "search/evolve/space_moves.h"
#include "search/predict/model.h"
#include "search/predict/quality.h"
#include "search/workers/measurer.h"

namespace tile_tune::search {

enum class Strategy {
  Model,    // evolution whose offspring a learned cost model picks from a pool (predict/)
  Genetic,  // evolution alone: every offspring is measured
  Random,   // random schedules throughout, with the same bookkeeping: the baseline to beat
};
const char* strategy_name(Strategy strategy);  // "model", "genetic", "random"
std::optional<Strategy> parse_strategy(const std::string& name);

struct TuneOptions {
  uint64_t seed = 0;
  Budget budget;  // without any limit: until exhausted or stopped
  Strategy strategy = Strategy::Model;
  int cores = 1;  // that compile at once; a batch has max(2 * cores, 4) candidates
};

/// What is known beforehand.
struct Priors {
  std::optional<codegen::Schedule> best;   // the stored winner of this program: tried with the default, whatever the
                                           // budget, and a finalist
  std::vector<codegen::Schedule> seeds;    // further stored schedules, best first, already fit for this program
  std::vector<std::string> faulty;         // keys of schedules that failed before: never proposed
  std::vector<Trial> earlier;              // trials of this program in earlier sessions: what the model learns from
  std::vector<predict::Sample> relatives;  // trials of the same program at other sizes, as the model's samples
  /// Trials of the session to resume, in their order; empty: a new session. With them go that session's seed and the
  /// budget that remains. The search repeats its decisions, taking stored trials (which cost nothing and are not sent
  /// to the sink again) instead of measuring; its own prior seeds are taken from the trials. If the decisions come out
  /// differently nevertheless (another version of the space), the stored trials are kept as knowledge and the search
  /// continues from there.
  std::vector<Trial> unfinished;
};

struct Surroundings {
  std::function<double()> clock;  // seconds from any origin
  const std::atomic<bool>& stop;  // set from outside: no further batch, no finals; everything finished is kept
  ProgressCallback progress;      // may be empty
};

enum class StopReason { Trials, Time, Exhausted, Stopped, DefaultFailed };
const char* stop_reason_name(StopReason reason);  // "trials", "time", "exhausted", "stopped", "default-failed"

enum class Standing { Default, Previous, New };

/// Whether the finalists were timed once more.
enum class FinalsHeld { Yes, Stopped, OneFinalist, NoTime };
const char* finals_held_name(FinalsHeld held);  // "yes", "stopped", "one-finalist", "no-time"

/// Without finals who won stands by the search's own figures: the default or the stored best, or what was ahead of it
/// by far in its race.
struct Winner {
  codegen::Schedule schedule;
  Measurement measurement;  // of the finals if there were any, else of its trial
  Standing standing = Standing::Default;
};

struct TuneReport {
  Strategy strategy = Strategy::Model;
  StopReason stop_reason = StopReason::Stopped;
  codegen::Schedule default_schedule;
  Measurement default_measurement;  // of the finals if there were any, else of its trial; its fault if it failed
  std::optional<Winner> winner;     // empty if it was stopped with nothing far ahead, the default failed or was not
                                    // reached in time, or the finals came to nothing
  FinalsHeld finals_held = FinalsHeld::Stopped;
  size_t final_rounds = 0;                     // of finals that had too few to say anything, and so count as not held
  std::optional<codegen::Schedule> incumbent;  // best by the search's own figures
  double incumbent_ratio = 0;
  std::vector<Trial> finals;
  int trials = 0;    // measured in this invocation
  int replayed = 0;  // taken from the unfinished session
  int generations = 0;
  std::map<Outcome, int> outcomes;        // replayed trials included, finals not
  int disturbed = 0;                      // of them, timed while the machine was busy
  std::map<std::string, int> hopeless;    // why random proposals were not tried: sentence -> count
  std::map<std::string, int> taken_back;  // why repair() or a move changed a proposal: the same
  struct Point {
    int trials;      // of the session so far
    double seconds;  // of the invocation so far
    double best_ratio;
    std::optional<predict::Quality> quality;  // of the model's predictions for this batch, made before it was measured
  };
  std::vector<Point> history;  // one per batch
  predict::Quality quality;    // of all batches
  struct Seconds {
    double total = 0, measuring = 0, recording = 0, finals = 0;
    double searching() const { return total - measuring - recording - finals; }  // all the rest
  } seconds;
};

/// `moves` is moves_of(space) everywhere but in tests.
Result<TuneReport> tune(const Moves& moves, Measurer& measurer, TrialSink& sink, const Priors& priors,
                        const TuneOptions& options, const Surroundings& surroundings);

}  // namespace tile_tune::search
