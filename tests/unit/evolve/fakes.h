// A machine, a clock and a sink made of plain values, for tests of the search.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "search/evolve/tune.h"
#include "tests/unit/evolve/landscape.h"

namespace tile_tune::search {

/// Times from a landscape; every candidate takes `seconds_each` of the clock it moves. It answers at its deadlines.
class LandscapeMeasurer : public Measurer {
 public:
  explicit LandscapeMeasurer(const Landscape& landscape) : landscape_(landscape) {}

  std::vector<Measurement> measure(const std::vector<codegen::Schedule>& batch, const codegen::Schedule& incumbent,
                                   Deadline deadline) override;
  std::vector<Measurement> finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline) override;

  double now = 1000;             // the clock, in seconds
  double first_batch_extra = 0;  // what is done once
  double seconds_each = 0;
  double finals_take = 0;
  int rounds = 0;  // of races: their ratios are the candidate's in each
  int finals_rounds = 31;
  double finals_lo = 0.99, finals_hi = 1.01;  // the interval, as a factor of the ratio
  std::vector<double> finals_slower;          // of each finals in turn, by this factor
  size_t finals_at_most = 1 << 30;            // then the machine is interrupted
  int answer_at_most = 1 << 30;               // candidates altogether; then the machine is interrupted
  std::vector<std::vector<codegen::Schedule>> batches;
  std::vector<codegen::Schedule> incumbents;  // as handed over with each batch
  std::vector<codegen::Schedule> finalists;
  std::vector<double> deadlines;  // of each batch
  std::function<void()> after_batch = [] {};

 private:
  Measurement measured(const codegen::Schedule& schedule) const;
  const Landscape& landscape_;
};

class VectorSink : public TrialSink {
 public:
  Result<void> on_trial(const Trial& trial) override;
  std::vector<std::string> keys() const;
  std::vector<Trial> trials;
  size_t fail_at = 1 << 30;  // this many trials fit
};

/// One search over a landscape, with everything it touched.
struct Session {
  explicit Session(const Landscape& landscape) : measurer(landscape), moves(moves_of(landscape)) {}
  Result<TuneReport> run();

  LandscapeMeasurer measurer;
  VectorSink sink;
  Moves moves;
  Priors priors;
  TuneOptions options;
  std::atomic<bool> stop = false;
  std::vector<Progress> progress;
};

/// Trials without the finals.
std::vector<Trial> searched(const std::vector<Trial>& trials);

}  // namespace tile_tune::search
