// Which statements of a schedule share a tile nest, and how much of a statement one iteration of a shared loop needs.
//
// A statement is inlined into its consumer, or a nest stores its elements: a nest of its own, or that of the reduction
// whose epilogue it is. The statement whose NestSchedule describes a nest is the nest's owner. A nest runs for itself
// or, with compute_at, inside the loops of another.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// One read of a tensor by a statement, straight or through statements inlined into it.
struct Access {
  int tensor = -1;
  /// Over the reading statement's indices. nullopt where they are not affine, or where what is read depends on more
  /// than the loops (constraints, elements that are not written, clamped subscripts).
  std::optional<std::vector<ir::AffineExpr>> subscripts;
};
bool operator==(const Access& a, const Access& b);

/// How the statements of a program hang together under a schedule, whose numbers of statements must be in range.
/// Looks at the schedule when asked, so that it may be changed in between; the statements inlined are those at first.
class Fusion {
 public:
  Fusion(const ir::Program& program, const Schedule& schedule);

  /// Owner of the nest that computes statement s; -1 if s is inlined.
  int owner_of(int s) const;
  /// The statement whose elements the nest of `owner` stores: its epilogue if it has one, else itself.
  int stored_by(int owner) const;

  /// By output loop of the element-wise statement s, the output loop of the reduction `host` that takes its place if s
  /// becomes the host's epilogue; nullopt if it cannot: s reads the host's elements at its own position only, and is
  /// the only one to read them.
  std::optional<std::vector<int>> epilogue_loops(int s, int host) const;

  /// True if the nest of `owner` may run inside the loops of `host` at all, whatever the depth.
  bool may_join(int owner, int host) const;
  /// Depths at which others may be computed inside the nest of `host`: [first, last]; none if last < first.
  std::pair<int, int> depths(int host) const;

  /// Iterations of each output loop in one run of the nest of `owner`: the whole loops at root, inside another nest
  /// what one iteration there needs. nullopt if the owner's compute_at is impossible.
  std::optional<std::vector<int64_t>> extents(int owner) const;
  /// The same if the nest were computed inside `host` at `depth`.
  std::optional<std::vector<int64_t>> extents(int owner, const ComputeAt& at) const;

  /// The least depth in the nest of `owner` at which its operand may be packed: what is computed inside the nest is not
  /// there before.
  int least_packing_depth(int owner, int operand) const;

  /// For a stage inside another's nest: how many of the loops around it a copy of depth -1 of the operand lies in.
  /// Loops further in read the same elements in every iteration. 0: it is made before the nest.
  int copy_depth(int owner, int operand) const;

  const Loops& loops(int s) const { return loops_[s]; }
  /// Reads by statement s, those of statements inlined into it included.
  const std::vector<Access>& accesses(int s) const { return accesses_[s]; }

 private:
  // Positions along one output loop: origin . (first positions of the open loops' tiles) + [min, min + extent).
  struct Side {
    std::vector<int64_t> origin;
    int64_t min = 0, extent = 0;
  };
  using Box = std::vector<Side>;
  struct Place {
    int host, depth;
    std::map<int, std::optional<Box>> boxes;  // by owner, as far as known
  };

  void collect(int s, const std::vector<std::optional<ir::AffineExpr>>& values, bool exact,
               std::vector<Access>& into) const;
  Box host_box(int host, int depth) const;
  std::optional<Box> box(int owner, int least_depth, Place& place) const;
  std::optional<Box> read_box(int reader, const Access& access, const Box& of_owner) const;
  bool is_whole(int s) const;
  bool starts_from_the_caller(int s) const;

  const ir::Program& program_;
  const Schedule& schedule_;
  std::vector<Loops> loops_;
  std::vector<std::vector<Access>> accesses_;
};

/// Every number of a statement in the schedule is one, and no two roles of a stage contradict each other: the state in
/// which Fusion can look at it.
Result<void> check_roles(const ir::Program& program, const Schedule& schedule);

}  // namespace tile_tune::codegen
