// Building, verifying and timing candidates: what the tuner asks of a machine.
//
// The tuner knows only this interface, so that a search can be replayed on recorded times (tests, simulate).
// The implementation that drives `tile-tune worker` processes is workers/workers.h.
#pragma once

#include <vector>

#include "search/judge/trial.h"
#include "search/timing/deadline.h"

namespace tile_tune::search {

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Builds, verifies and times a batch, interleaved with the default schedule and `incumbent`. One
  /// Measurement per schedule, in order. Never fails as a whole: faults are outcomes. Candidates that are unfinished at
  /// the deadline, or when somebody asks to stop, come back missing: the result may be shorter than the batch.
  virtual std::vector<Measurement> measure(const std::vector<codegen::Schedule>& batch,
                                           const codegen::Schedule& incumbent, Deadline deadline) = 0;
  /// Times verified finalists again, interleaved in random order in a fresh process, with the default and the
  /// roofline probe in every round; the figures that are published. The first finalist is the default schedule.
  /// At the deadline they end with what there is, fewer rounds or nothing at all.
  virtual std::vector<Measurement> finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline) = 0;
};

}  // namespace tile_tune::search
