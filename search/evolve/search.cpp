#include "search/evolve/search.h"

#include <algorithm>
#include <functional>

#include "search/evolve/finals.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

constexpr int kSeeds = 8;        // random ones, of searches without a model; more only delay them
                                 // (decision 24)
constexpr int kMinBatch = 4;     // decision 24
constexpr int kChallengers = 4;  // decision 27
constexpr double kGain = 1.01;   // less than one percent is noise (decision 25)

int batch_size(const TuneOptions& options) { return std::max(2 * options.cores, kMinBatch); }

// Of a guided search. 256 offspring or 1,024 made no difference in the replays; eight seeds in all, the default and the
// stored best among them (decision 24). Four took a tenth fewer trials to 90 % of the best when
// replayed, but live they ended 4 to 8 % lower after 64 trials of three programs: recorded schedules are good ones
// already, whichever of them is drawn at random. Most random draws are hopeless: as many as need be.
constexpr int kPool = 256, kSeedDraws = 64;
constexpr size_t kGuidedSeeds = 8;

// What the analytical model takes for nearly as good as its default gets half of them: a search that it leads nowhere
// has the others.
constexpr size_t kModelSeeds = kGuidedSeeds / 2;

double round_ns(const std::vector<Member>& finalists) {
  double sum = 0;
  for (const Member& finalist : finalists) sum += finalist.median_ns;
  return sum;
}

void count_notes(const std::vector<Candidate>& candidates, std::map<std::string, int>& counts) {
  for (const Candidate& candidate : candidates)
    for (const auto note : candidate.notes) ++counts[std::string(note)];
}

bool is_final(const Trial& trial) { return trial.origin == "final"; }

/// A resumed session has the prior seeds it began with, not those that the database would offer today (its own trials
/// among them); unless it ended before it had tried all of them.
std::vector<codegen::Schedule> prior_seeds(const Priors& priors) {
  std::vector<codegen::Schedule> schedules;
  bool had_all = false;
  for (const Trial& trial : priors.unfinished) {
    if (trial.origin == "prior") schedules.push_back(trial.schedule);
    had_all |= trial.origin != "prior" && trial.origin != "default";
  }
  if (!had_all) schedules.insert(schedules.end(), priors.seeds.begin(), priors.seeds.end());
  return schedules;
}

}  // namespace

Search::Search(const Moves& moves, Measurer& measurer, TrialSink& sink, const Priors& priors,
               const TuneOptions& options, const Surroundings& surroundings)
    : moves_(moves),
      measurer_(measurer),
      sink_(sink),
      priors_(priors),
      options_(options),
      surroundings_(surroundings),
      start_(surroundings.clock()),
      default_(moves.default_schedule()),
      default_key_(moves.key(default_)),
      previous_key_(priors.best ? moves.key(*priors.best) : ""),
      rng_(options.seed),
      guide_(options.strategy == Strategy::Model ? priors.relatives : std::vector<predict::Sample>{}) {
  report_.strategy = options.strategy;
  report_.default_schedule = default_;
  population_.tried.insert(priors.faulty.begin(), priors.faulty.end());
  if (guided())
    for (const Trial& trial : priors.earlier) guide_.learn(view(trial.schedule), trial.measurement);
  for (const Trial& trial : priors.unfinished) {
    next_sequence_ = std::max(next_sequence_, trial.sequence + 1);
    if (is_final(trial)) continue;
    const std::string key = moves.key(trial.schedule);
    population_.tried.erase(key);  // a fault of this very session was no reason not to try it
    stored_.emplace(key, trial);
  }
}

std::vector<Candidate> Search::openers() const {
  std::vector<Candidate> batch{{default_, default_key_, "default", {}}};
  if (priors_.best && previous_key_ != default_key_) batch.push_back({*priors_.best, previous_key_, "prior", {}});
  return batch;
}

bool Search::default_verified() const { return find(population_, default_key_) != nullptr; }

std::vector<codegen::Schedule> Search::untried_alternatives() const {
  auto schedules = moves_.alternatives ? moves_.alternatives() : std::vector<codegen::Schedule>{};
  for (const Trial& trial : priors_.earlier) std::erase(schedules, trial.schedule);
  if (schedules.size() > kModelSeeds) schedules.resize(kModelSeeds);
  return schedules;
}

void Search::plan_seeds() {
  std::vector<Candidate> first;
  const auto add = [&](const std::vector<codegen::Schedule>& schedules, const char* origin) {
    for (const auto& schedule : schedules) first.push_back({schedule, moves_.key(schedule), origin, {}});
  };
  add(prior_seeds(priors_), "prior");
  if (guided()) add(untried_alternatives(), "model");
  auto planned = seeds(first, guided() ? 0 : kSeeds, population_, moves_, rng_);
  count_notes(planned, report_.taken_back);
  if (guided()) add_guided_seeds(planned);
  seeds_.assign(planned.begin(), planned.end());
  seeding_ = !seeds_.empty();
}

/// Neighbours of the best known (the default, or what is stored) in turn with random ones: those that look best on
/// paper, but for every second random one.
void Search::add_guided_seeds(std::vector<Candidate>& planned) {
  // A model that knows the program already picks better than this does.
  const size_t wanted = priors_.earlier.size() >= kGuidedSeeds ? 0 : kGuidedSeeds - openers().size();
  if (planned.size() >= wanted) return;
  std::vector<Candidate> near = search::breed(Mode::Local, kSeedDraws, 1, population_, moves_, rng_);
  std::vector<Candidate> far = search::breed(Mode::Random, kSeedDraws, 1, population_, moves_, rng_);
  count_notes(near, report_.taken_back);
  count_notes(far, report_.taken_back);
  filter(far);
  const auto take_best = [&](std::vector<Candidate>& from, bool best) {
    auto chosen = from.begin();
    if (best && moves_.estimate) {
      std::vector<double> times;
      for (const Candidate& candidate : from) times.push_back(moves_.estimate(candidate.schedule));
      chosen += std::min_element(times.begin(), times.end()) - times.begin();
    }
    const auto same = [&](const Candidate& seed) { return seed.key == chosen->key; };
    if (std::none_of(planned.begin(), planned.end(), same)) planned.push_back(*chosen);
    from.erase(chosen);
  };
  for (int turn = 0; planned.size() < wanted && !(near.empty() && far.empty()); ++turn) {
    const bool from_near = far.empty() || (turn % 2 == 0 && !near.empty());
    take_best(from_near ? near : far, from_near || turn % 4 == 1);
  }
}

std::vector<Candidate> Search::breed() {
  const int size = batch_size(options_);
  std::vector<Candidate> pool;
  seeding_ = !seeds_.empty();
  if (seeding_) {
    const auto end = seeds_.begin() + std::min<ptrdiff_t>(size, static_cast<ptrdiff_t>(seeds_.size()));
    pool.assign(seeds_.begin(), end);
    seeds_.erase(seeds_.begin(), end);
  } else {
    const bool random = options_.strategy == Strategy::Random;
    const bool pooled = guided() && guide_.ready();
    pool = search::breed(random ? Mode::Random : mode_after(stale_batches_), pooled ? kPool : size, size, population_,
                         moves_, rng_);
    count_notes(pool, report_.taken_back);
    if (!pool.empty()) ++report_.generations;
  }
  return pool;
}

void Search::filter(std::vector<Candidate>& pool) {
  if (!guided() || !moves_.hopeless) return;
  std::map<std::string, int> reasons;
  const auto is_hopeless = [&](const Candidate& candidate) {
    if (candidate.origin != "random") return false;
    const auto reason = moves_.hopeless(candidate.schedule);
    if (reason) ++reasons[*reason];
    return reason.has_value();
  };
  const auto dropped = std::stable_partition(pool.begin(), pool.end(), std::not_fn(is_hopeless));
  if (dropped != pool.begin()) {
    pool.erase(dropped, pool.end());
    for (const auto& [reason, count] : reasons) report_.hopeless[reason] += count;
  }
}

Result<std::vector<Candidate>> Search::pick(std::vector<Candidate> pool) {
  const auto size = static_cast<size_t>(batch_size(options_));
  if (!guided() || seeding_ || pool.size() <= size) return pool;
  std::vector<Guide::View> views;
  for (const Candidate& candidate : pool) views.push_back(view(candidate.schedule));
  return guide_.pick(std::move(pool), views, size, random_share(mode_after(stale_batches_)), rng_);
}

double Search::reserve() const {
  const std::vector<Member> members = choose_finalists();
  const double round = round_ns(members);
  return members.empty() ? 0 : std::min(finals_seconds(cost_, round), most_for_finals(options_.budget, round));
}

int Search::allowance() const {
  return allowed(options_.budget, {report_.trials, elapsed()}, cost_, reserve(), batch_size(options_));
}

/// Of the budget, when `reserve` seconds of it are kept.
Deadline Search::end(double reserve) const {
  return options_.budget.seconds ? Deadline{start_ + *options_.budget.seconds - reserve} : Deadline();
}

StopReason Search::reason_without_default() const {
  if (interrupted_) return StopReason::Stopped;
  return late_ ? StopReason::Time : StopReason::DefaultFailed;
}

std::optional<StopReason> Search::reason_to_stop() const {
  if (interrupted_ || surroundings_.stop) return StopReason::Stopped;
  if (late_) return StopReason::Time;
  if (!stored_.empty() || allowance() > 0) return std::nullopt;
  const bool trials_spent = options_.budget.trials && report_.trials >= *options_.budget.trials;
  return trials_spent ? StopReason::Trials : StopReason::Time;
}

Result<void> Search::try_batch(std::vector<Candidate> batch) {
  const bool opening = report_.history.empty();
  const auto is_stored = [&](const Candidate& candidate) { return stored_.count(candidate.key) > 0; };
  const auto unknown = std::stable_partition(batch.begin(), batch.end(), is_stored);
  if (unknown == batch.begin()) absorb_stored();
  for (auto known = batch.begin(); known != unknown; ++known) {
    const auto stored = stored_.extract(known->key);
    learn(stored.mapped(), known->key);
    ++report_.replayed;
  }
  batch.erase(batch.begin(), unknown);
  if (!opening) batch.resize(std::min<size_t>(batch.size(), static_cast<size_t>(allowance())));

  // The default is what all others are judged by, and what stands in the end: it has until the very last.
  const Deadline deadline = opening ? end(-options_.budget.overtime) : end(reserve());
  const std::vector<Measurement> measurements = measure(batch, deadline);
  const bool is_short = measurements.size() < batch.size();
  late_ = is_short && !surroundings_.stop && options_.budget.seconds;
  interrupted_ = is_short && !late_;
  for (size_t i = 0; i < measurements.size(); ++i) TILE_TUNE_CHECK(record(batch[i], measurements[i]));
  note_gain(guide_.judge(batch, measurements));
  tell(seeding_ ? Phase::Seeding : Phase::Searching);
  return {};
}

/// No candidate is among the stored trials though some remain: the search has left the path of the session.
void Search::absorb_stored() {
  std::vector<Trial> left;
  for (auto& [key, trial] : stored_) left.push_back(std::move(trial));
  stored_.clear();
  std::sort(left.begin(), left.end(), [](const Trial& a, const Trial& b) { return a.sequence < b.sequence; });
  for (const Trial& trial : left) learn(trial, moves_.key(trial.schedule));
  report_.replayed += static_cast<int>(left.size());
}

Guide::View Search::view(const codegen::Schedule& schedule) const {
  return {moves_.row(schedule), moves_.estimate ? moves_.estimate(schedule) : 0};
}

std::vector<Measurement> Search::measure(const std::vector<Candidate>& candidates, Deadline deadline) {
  if (candidates.empty()) return {};
  std::vector<codegen::Schedule> schedules;
  for (const Candidate& candidate : candidates) schedules.push_back(candidate.schedule);
  const codegen::Schedule& incumbent = population_.ranked.empty() ? default_ : population_.ranked.front().schedule;
  const double start = surroundings_.clock();
  std::vector<Measurement> measurements = measurer_.measure(schedules, incumbent, deadline);
  const double seconds = surroundings_.clock() - start;
  measurements.resize(std::min(measurements.size(), schedules.size()));
  report_.seconds.measuring += seconds;
  cost_.add_batch(static_cast<int>(measurements.size()), seconds);
  return measurements;
}

void Search::learn(const Trial& trial, const std::string& key) {
  add(population_, trial.schedule, key, trial.measurement);
  if (guided()) guide_.learn(view(trial.schedule), trial.measurement);
  ++report_.outcomes[trial.measurement.outcome];
  report_.disturbed += trial.measurement.disturbed;
  if (key == default_key_) report_.default_measurement = trial.measurement;
  if (key == previous_key_) previous_ = trial.measurement;
  if (population_.ranked.empty() || population_.ranked.front().key != key) return;
  best_ = trial.measurement;
  improved_at_ = surroundings_.clock();
}

Result<void> Search::send(const Trial& trial) {
  const double start = surroundings_.clock();
  auto sent = sink_.on_trial(trial);
  report_.seconds.recording += surroundings_.clock() - start;
  return sent;
}

Result<void> Search::record(const Candidate& candidate, Measurement measurement) {
  const Trial trial{.sequence = next_sequence_++,
                    .generation = report_.generations,
                    .origin = candidate.origin,
                    .parents = candidate.parents,
                    .schedule = candidate.schedule,
                    .measurement = std::move(measurement)};
  learn(trial, candidate.key);
  ++report_.trials;
  return send(trial);
}

void Search::note_gain(const std::optional<predict::Quality>& quality) {
  if (best_ratio() >= kGain * last_gain_) {
    last_gain_ = best_ratio();
    stale_batches_ = 0;
  } else if (!seeding_) {
    ++stale_batches_;
  }
  report_.history.push_back({report_.trials + report_.replayed, elapsed(), best_ratio(), quality});
  if (quality) report_.quality += *quality;
}

std::vector<Member> Search::choose_finalists() const {
  std::vector<Member> members = finalists(population_, default_key_, previous_key_, kChallengers);
  // One challenger there must be. The last is the slowest.
  const size_t fewest = openers().size() + 1;
  const auto has_time = [&](double round) {
    return has_time_for_finals(most_for_finals(options_.budget, round), round);
  };
  while (members.size() > fewest && !has_time(round_ns(members))) members.pop_back();
  return members;
}

Result<void> Search::conclude() {
  const std::vector<Member> members = choose_finalists();
  if (members.size() == 1) return stand_by_trials(FinalsHeld::OneFinalist);
  if (!options_.budget.seconds) {
    TILE_TUNE_CHECK(run_finals(members, {}));
    return interrupted_ ? keep_what_is_clear() : Result<void>();
  }
  const double round = round_ns(members);
  const double seconds = std::min(*options_.budget.seconds - elapsed(), most_for_finals(options_.budget, round));
  if (!has_time_for_short_finals(seconds, round)) return stand_by_trials(FinalsHeld::NoTime);
  TILE_TUNE_CHECK(run_finals(members, {surroundings_.clock() + seconds}));
  if (interrupted_) return keep_what_is_clear();
  return report_.finals_held == FinalsHeld::NoTime ? stand_by_trials(FinalsHeld::NoTime) : Result<void>();
}

/// What is so far ahead of the default and of what is stored that it needs no finals.
bool Search::best_is_clear() const {
  const Member& best = population_.ranked.front();
  return best.key != default_key_ && best.key != previous_key_ &&
         is_far_ahead(best_, previous_stands() ? std::max(find(population_, previous_key_)->ratio, 1.0) : 1);
}

bool Search::previous_stands() const {
  return find(population_, previous_key_) && previous_key_ != default_key_ && !is_slower(with_interval(previous_));
}

/// Of a search that was stopped.
Result<void> Search::keep_what_is_clear() {
  return best_is_clear() ? stand_by_trials(FinalsHeld::Stopped) : Result<void>();
}

/// Who wins without finals. What is stored has better figures than these: only what is new takes its place.
Result<void> Search::stand_by_trials(FinalsHeld why) {
  report_.finals_held = why;
  const bool is_new = best_is_clear();
  if (is_new) {
    report_.winner = Winner{population_.ranked.front().schedule, with_interval(best_), Standing::New};
  } else if (previous_stands()) {
    report_.winner = Winner{find(population_, previous_key_)->schedule, with_interval(previous_), Standing::Previous};
  } else {
    report_.winner = Winner{default_, as_default(report_.default_measurement), Standing::Default};
  }
  if (priors_.best && !is_new) return {};
  return record_final(report_.winner->schedule, report_.winner->measurement);
}

Result<void> Search::run_finals(const std::vector<Member>& members, Deadline deadline) {
  const bool with_previous = members.size() > 1 && members[1].key == previous_key_;
  tell(Phase::Finals);
  std::vector<codegen::Schedule> schedules;
  for (const Member& member : members) schedules.push_back(member.schedule);
  const double start = surroundings_.clock();
  const Measurement trial = report_.default_measurement;
  std::vector<Measurement> measurements = measurer_.finals(schedules, deadline);
  const auto is_odd = [&] { return !measurements.empty() && at_odds(measurements[0], trial); };
  if (is_odd()) {
    auto again = measurer_.finals(schedules, deadline);
    if (again.size() == measurements.size()) measurements = std::move(again);
  }
  if (is_odd())
    for (Measurement& measurement : measurements) measurement.disturbed = true;
  report_.seconds.finals = surroundings_.clock() - start;
  const size_t rounds = rounds_of(measurements);
  const bool is_complete = measurements.size() == members.size() && measurements[0].outcome == Outcome::Ok;
  if (is_complete && rounds < kFewestForInterval) {
    report_.finals_held = FinalsHeld::NoTime;
    report_.final_rounds = rounds;
    return {};
  }
  for (size_t i = 0; i < std::min(measurements.size(), members.size()); ++i)
    TILE_TUNE_CHECK(record_final(members[i].schedule, measurements[i]));
  const bool is_short = measurements.size() < members.size();
  const bool is_late = is_short && !surroundings_.stop && options_.budget.seconds;
  report_.finals_held = is_late ? FinalsHeld::NoTime : is_short ? FinalsHeld::Stopped : FinalsHeld::Yes;
  interrupted_ = is_short && !is_late;
  if (is_short || measurements[0].outcome != Outcome::Ok) return {};

  report_.default_measurement = measurements[0];
  const size_t index = decide(measurements, with_previous);
  const Standing standing = index == 0                    ? Standing::Default
                            : index == 1 && with_previous ? Standing::Previous
                                                          : Standing::New;
  report_.winner = Winner{schedules[index], measurements[index], standing};
  return {};
}

Result<void> Search::record_final(const codegen::Schedule& schedule, const Measurement& measurement) {
  report_.finals.push_back({.sequence = next_sequence_++,
                            .generation = report_.generations,
                            .origin = "final",
                            .parents = {},
                            .schedule = schedule,
                            .measurement = measurement});
  return send(report_.finals.back());
}

void Search::tell(Phase phase) const {
  if (!surroundings_.progress) return;
  Progress progress{.phase = phase,
                    .generation = report_.generations,
                    .trials = report_.trials,
                    .replayed = report_.replayed,
                    .trials_left = options_.budget.trials,
                    .seconds_left = options_.budget.seconds,
                    .best_ratio = best_ratio(),
                    .best_ns = best_.median_ns,
                    .improved_at = improved_at_,
                    .outcomes = report_.outcomes,
                    .quality = std::nullopt};
  if (report_.quality.pairs > 0) progress.quality = report_.quality;
  if (progress.trials_left) progress.trials_left = std::max(0, *progress.trials_left - report_.trials);
  if (progress.seconds_left) progress.seconds_left = std::max(0.0, *progress.seconds_left - elapsed());
  surroundings_.progress(progress);
}

TuneReport Search::report(StopReason reason) {
  report_.stop_reason = reason;
  if (reason == StopReason::Time && !default_verified()) report_.finals_held = FinalsHeld::NoTime;
  if (!population_.ranked.empty()) {
    report_.incumbent = population_.ranked.front().schedule;
    report_.incumbent_ratio = best_ratio();
  }
  report_.seconds.total = elapsed();
  tell(Phase::Done);
  return std::move(report_);
}

}  // namespace tile_tune::search
