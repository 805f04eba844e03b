// Two nests that read the same array, whose loops run in turn, piece by piece (InTurn, codegen/schedule/schedule.h):
// one finds in the nearest cache what the other has brought there.
//
// Halide's compute_with() fuses loops of Funcs that have the same variables; the loops of a reduction in lanes and
// those of tiles have not, nor need their extents divide each other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/lower/statements.h"

namespace tile_tune::codegen {

/// Two stages in turn, by the names of their Funcs.
struct NestsInTurn {
  std::set<std::string> moved;  // all of the stage that reads inputs alone, whose nest goes where the other one is
  std::string host;             // the other one's, with the tile nest: its pieces are the first
  Halide::Expr pieces;          // about as many, at least 1
};

/// Into how many pieces a statement's loop is cut that is cut into `pieces` at the sizes the program is bound at: as
/// long ones.
Halide::Expr pieces_of(const KernelContext& kernel, const ir::Statement& statement, int pieces);

NestsInTurn nests_in_turn(const ScheduledNest& moved, const ScheduledNest& host, Halide::Expr pieces);

/// A pass over lowered code, the last one: others go by the Funcs around a loop. Nests whose loops it cannot cut stay
/// as they are.
class LoopsInTurn : public Halide::Internal::IRMutator {
 public:
  explicit LoopsInTurn(std::vector<NestsInTurn> nests) : nests_(std::move(nests)) {}
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;
  using IRMutator::mutate;

 private:
  std::vector<NestsInTurn> nests_;
};

}  // namespace tile_tune::codegen
