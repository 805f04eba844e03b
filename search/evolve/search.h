// One running search: the state behind tune(). Each public function is one step of the algorithm in tune.cpp.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "search/evolve/breed.h"
#include "search/evolve/guide.h"
#include "search/evolve/tune.h"

namespace tile_tune::search {

class Search {
 public:
  Search(const Moves& moves, Measurer& measurer, TrialSink& sink, const Priors& priors, const TuneOptions& options,
         const Surroundings& surroundings);

  /// The default schedule and the stored best.
  std::vector<Candidate> openers() const;
  bool default_verified() const;
  void plan_seeds();
  /// The next seeds while there are any, then offspring: a pool for the model to pick from, or, without one, a batch.
  /// Empty where the space is exhausted.
  std::vector<Candidate> breed();
  /// Drops random proposals that are hopeless, unless there is nothing else.
  void filter(std::vector<Candidate>& pool);
  /// The batch to try next; the whole pool where no model is at work.
  Result<std::vector<Candidate>> pick(std::vector<Candidate> pool);
  /// Why to stop now; nothing while the budget allows a further candidate or stored trials remain to be replayed.
  std::optional<StopReason> reason_to_stop() const;
  /// Replays what is stored, measures the rest as far as the budget goes, records, and tells of the progress.
  Result<void> try_batch(std::vector<Candidate> batch);
  /// The finals, where there is a contest and time for it, and who won.
  Result<void> conclude();
  Result<void> keep_what_is_clear();
  bool interrupted() const { return interrupted_; }
  StopReason reason_without_default() const;
  TuneReport report(StopReason reason);

 private:
  int allowance() const;
  Deadline end(double reserve) const;
  double reserve() const;
  Result<void> run_finals(const std::vector<Member>& members, Deadline deadline);
  bool best_is_clear() const;
  bool previous_stands() const;
  Result<void> stand_by_trials(FinalsHeld why);
  std::vector<codegen::Schedule> untried_alternatives() const;
  bool guided() const { return options_.strategy == Strategy::Model; }
  double elapsed() const { return surroundings_.clock() - start_; }
  double best_ratio() const { return population_.ranked.empty() ? 0 : population_.ranked.front().ratio; }
  Guide::View view(const codegen::Schedule& schedule) const;
  void add_guided_seeds(std::vector<Candidate>& planned);
  std::vector<Member> choose_finalists() const;
  void absorb_stored();
  void learn(const Trial& trial, const std::string& key);
  Result<void> record(const Candidate& candidate, Measurement measurement);
  Result<void> record_final(const codegen::Schedule& schedule, const Measurement& measurement);
  Result<void> send(const Trial& trial);
  std::vector<Measurement> measure(const std::vector<Candidate>& candidates, Deadline deadline);
  void note_gain(const std::optional<predict::Quality>& quality);
  void tell(Phase phase) const;

  const Moves& moves_;
  Measurer& measurer_;
  TrialSink& sink_;
  const Priors& priors_;
  const TuneOptions& options_;
  const Surroundings& surroundings_;
  const double start_;
  const codegen::Schedule default_;
  const std::string default_key_, previous_key_;  // previous: empty if there is none

  Rng rng_;
  Population population_;
  Guide guide_;
  std::deque<Candidate> seeds_;                    // not yet tried
  std::unordered_map<std::string, Trial> stored_;  // of the unfinished session, not yet replayed
  Cost cost_;
  bool seeding_ = true;
  bool interrupted_ = false;
  bool late_ = false;            // a batch came back short since its time was over
  Measurement best_, previous_;  // of the trials of population_.ranked.front() and of the stored best
  double improved_at_ = 0;       // when the former was found, by the clock
  int next_sequence_ = 0;
  int stale_batches_ = 0;
  double last_gain_ = 0;  // the best ratio when a batch last gained
  TuneReport report_;
};

}  // namespace tile_tune::search
