// Which schedules exist for a program on a target, and how to move among them.
//
// Every schedule the space hands out is valid (codegen/schedule/check.h) and canonical: two equal genomes
// compare equal. All moves are pure functions of their arguments and the generator's state.
#pragma once

#include <memory>
#include <optional>
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

/// Whether members of a space speak of the program's collapsed form (ir/collapsed.h), where it has one, or of each
/// dimension by itself.
enum class Dimensions { Collapsed, Apart };

class Space {
 public:
  /// `program` must be canonical and bound. On a deterministic target nothing is collapsed. A schedule of dimensions
  /// apart is taken as a parent in either case, and what descends from it is one, too.
  Space(ir::Program program, codegen::Target target, Dimensions dimensions = Dimensions::Collapsed);

  /// What an analytical model of registers and caches picks; exists for every program.
  codegen::Schedule default_schedule() const;
  /// What that model takes for nearly as good, worth a trial before anything is known; others than the default.
  std::vector<codegen::Schedule> default_alternatives() const;
  /// A random member.
  Drawn sample(Rng& rng) const;
  /// One or two decisions changed; differs from its argument wherever the space has another member. The notes are those
  /// of all attempts.
  Drawn mutate(const codegen::Schedule& parent, Rng& rng) const;
  /// Each group of decisions from one parent or the other, repaired to be valid; of parents of two forms the first.
  Drawn crossover(const codegen::Schedule& a, const codegen::Schedule& b, Rng& rng) const;
  /// Whether the schedule, of another size of the program, cuts the loops that this one has.
  bool has_loops_of(const codegen::Schedule& schedule) const;
  /// The nearest valid schedule to one made for another size of the same program (same family hash), whose loops are
  /// this one's.
  Drawn adapt(const codegen::Schedule& schedule) const;
  /// Schedules of another program of the same form (ir/form.h: other sizes, element types, storage orders, batches),
  /// valid for `from`, made to fit this one: several where several ways are plausible, distinct, as a rule the best
  /// first. None where the nests differ in more than form, and none on GPUs.
  std::vector<codegen::Schedule> transfer(const ir::Program& from, const codegen::Schedule& schedule) const;
  /// Number of distinct schedules (an estimate from the decisions' value counts), as a base-10 logarithm.
  double log10_size() const;
  /// The same by group of decisions, of all statements together; the sum is that of all.
  std::vector<std::pair<codegen::Group, double>> log10_sizes() const;

  const ir::Program& program() const { return *apart_.program; }
  const codegen::Target& target() const { return *target_; }
  Dimensions dimensions() const { return dimensions_; }

 private:
  /// What schedules speak of: the program or its collapsed form.
  struct Form {
    std::shared_ptr<const ir::Program> program;  // shared, so that copies of a Space keep what `stages` points to
    std::vector<StageContext> stages;
  };
  Form make_form(ir::Program program) const;
  const Form& form_of(const codegen::Schedule& schedule) const;
  const Form& own() const { return is_collapsed_ ? *collapsed_ : apart_; }
  /// As a member of the form that is the space's own.
  codegen::Schedule as_own(codegen::Schedule schedule) const;
  /// One decision of one statement changed, or why not.
  Drawn change(const codegen::Schedule& parent, Rng& rng) const;

  std::shared_ptr<const codegen::Target> target_;
  Form apart_;
  std::optional<Form> collapsed_;
  Dimensions dimensions_;
  bool is_collapsed_ = false;
};

}  // namespace tile_tune::search
