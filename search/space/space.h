// Which schedules exist for a program on a target, and how to move among them.
//
// Every schedule the space hands out is valid (codegen/schedule/check.h) and canonical: two equal genomes
// compare equal. All moves are pure functions of their arguments and the generator's state.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "codegen/schedule/decisions.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"
#include "search/space/drawn.h"
#include "search/space/repair.h"
#include "search/space/rng.h"

namespace tile_tune::search {

class Space {
 public:
  /// `program` must be canonical and bound.
  Space(ir::Program program, codegen::Target target);

  /// What an analytical model of registers and caches picks; exists for every program.
  codegen::Schedule default_schedule() const;
  /// What that model takes for nearly as good, worth a trial before anything is known; others than the default.
  std::vector<codegen::Schedule> default_alternatives() const;
  /// A random member.
  Drawn sample(Rng& rng) const;
  /// One or two decisions changed; differs from its argument wherever the space has another member. The notes are those
  /// of all attempts.
  Drawn mutate(const codegen::Schedule& parent, Rng& rng) const;
  /// Each group of decisions from one parent or the other, repaired to be valid.
  Drawn crossover(const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) const;
  /// The nearest valid schedule to one made for another size of the same program (same family hash).
  Drawn adapt(const codegen::Schedule& schedule) const;
  /// Schedules of another program of the same form (ir/form.h: other sizes, element types, storage orders, batches),
  /// valid for `from`, made to fit this one: several where several ways are plausible, distinct, as a rule the best
  /// first. None where the nests differ in more than form, and none on GPUs.
  std::vector<codegen::Schedule> transfer(const ir::Program& from, const codegen::Schedule& schedule) const;
  /// Number of distinct schedules (an estimate from the decisions' value counts), as a base-10 logarithm.
  double log10_size() const;
  /// The same by group of decisions, of all statements together; the sum is that of all.
  std::vector<std::pair<codegen::Group, double>> log10_sizes() const;

  const ir::Program& program() const { return *program_; }
  const codegen::Target& target() const { return *target_; }

 private:
  /// One decision of one statement changed, or why not.
  Drawn change(const codegen::Schedule& parent, Rng& rng) const;

  std::shared_ptr<const ir::Program> program_;  // shared, so that copies of a Space keep what stages_ points to
  std::shared_ptr<const codegen::Target> target_;
  std::vector<StageContext> stages_;
};

}  // namespace tile_tune::search
