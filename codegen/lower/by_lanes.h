// Vectors of a GPU: they make one access of several elements, and nothing else, since a thread computes one number
// after the other.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen {

/// A pass over lowered code for GPUs: what is stored as a vector and computed by more than sums and products is
/// computed lane by lane, of vectors that are still loaded whole. Halide's OpenCL code knows no vectors of truth values
/// and few calls of vectors.
class ByLanes : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;

  bool goes_by_lanes(const Halide::Expr& value) const;
  std::vector<Halide::Expr> lanes_of(const Halide::Expr& value) const;
  static Halide::Internal::Stmt with_names(const std::vector<std::pair<std::string, Halide::Expr>>& names,
                                           Halide::Internal::Stmt stmt);

  std::map<std::string, std::vector<Halide::Expr>> lanes_;  // of names for vectors that are computed so
};

/// A pass over lowered code for OpenCL, whose vectors have 2, 3, 4, 8 or 16 elements: what is picked out of others
/// (Halide takes six neighbours for four elements of every second one) is computed, and loaded, by itself; what would
/// be stored in one (of a thread's vectors that lie between each other) is stored in parts.
class OddVectors : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Shuffle* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;
};

/// A pass over lowered code for GPUs: drops Atomic nodes, which reductions in vectors come with. A thread's sums are
/// its own.
class NothingAtomic : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Atomic* op) override { return mutate(op->body); }
};

/// A pass over lowered code for OpenCL, which has no dot products: the sum of a vector's lanes, lane by lane.
class SumsByLanes : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::VectorReduce* op) override;
};

/// A pass over lowered code for OpenCL: numbers of f64 by their bits, since Halide 21 writes them down as f32.
class ExactNumbers : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::FloatImm* op) override;
};

}  // namespace tile_tune::codegen
