// Loads that ask for what a later iteration reads (Prefetch, codegen/schedule/schedule.h).
//
// Halide's own prefetch() belongs to a loop of one Func, and asks for all that an iteration of it will need at once:
// 64 lines for a row of softmax, more than a core can wait for. (By hand in C, 4096 x 1024 on two Zen 4 cores: no gain,
// where one line with every vector loaded took 0.76 of the time without.)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/lower/stage.h"

namespace tile_tune::codegen {

/// By Func and buffer: elements from each vector that the Func's loops load to the one to ask for.
using Distances = std::map<std::string, std::map<std::string, int64_t>>;

/// Adds those of a stage's prefetches.
void add_distances(const ir::Program& program, const StageSchedule& schedule, const Stage& stage, Distances& distances);

/// A pass over lowered code.
class LoadsAhead : public Halide::Internal::IRMutator {
 public:
  explicit LoadsAhead(Distances distances) : distances_(std::move(distances)) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::IfThenElse* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;

  /// `stmt` behind what asks for the vectors that follow those in `value`.
  Halide::Internal::Stmt after_asking(const Halide::Expr& value, Halide::Internal::Stmt stmt);

  Distances distances_;
  const std::map<std::string, int64_t>* of_func_ = nullptr;  // of the Func whose loops we are in
  std::vector<Halide::Expr> asked_;                          // on the way to here, in this iteration
};

}  // namespace tile_tune::codegen
