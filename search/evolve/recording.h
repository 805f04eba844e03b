// Searching in what was recorded: the schedules of one program that some sessions tried, with what was measured of
// them, stand for the whole space, and no hardware is needed.
//
// Moves stay among the recorded schedules. Two are the nearer the fewer of their decisions differ, numbers by their
// logarithm. A mutation is one of the nearest recorded neighbours, a crossover one that is near to both parents, and a
// random proposal one of those that a session drew at random: so the share of good ones among them is that of the
// space.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/evolve/space_moves.h"
#include "search/workers/measurer.h"

namespace tile_tune::search {

struct RecordedTrial {
  codegen::Schedule schedule;
  std::string origin;  // as Trial::origin
  Outcome outcome = Outcome::Ok;
  double ratio = 0;  // speed relative to the default schedule; 0 for a fault
};

class Recording : public Measurer {
 public:
  /// `program` is canonical and bound. Of one schedule tried several times the median ratio counts; trials that say
  /// nothing of a schedule (no space, timeouts, duplicates) are left out. Fails (class Failure, code
  /// bad-recording) where the default schedule is not among them or none is faster.
  static Result<Recording> make(const ir::Program& program, const codegen::Target& target,
                                const std::vector<RecordedTrial>& trials);

  size_t size() const;
  double best_ratio() const;
  /// The recording must outlive them.
  Moves moves() const;

  std::vector<Measurement> measure(const std::vector<codegen::Schedule>& batch, const codegen::Schedule& incumbent,
                                   Deadline deadline) override;
  std::vector<Measurement> finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline) override;

 private:
  struct Space;
  explicit Recording(std::shared_ptr<const Space> space) : space_(std::move(space)) {}
  std::shared_ptr<const Space> space_;
};

}  // namespace tile_tune::search
