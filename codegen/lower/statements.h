// All statements of a program as scheduled Funcs, each computed where its schedule says.
#pragma once

#include "codegen/lower/code_passes.h"
#include "codegen/lower/in_turn.h"

namespace tile_tune::codegen {

/// True if an expression of the program reads the tensor.
bool reads(const ir::Program& program, int tensor);

/// What passes over the lowered code still have to do.
struct LeftToPasses {
  std::vector<CodePass> passes;
  std::vector<NestsInTurn> in_turn;
};

/// `values` holds the Funcs that expressions read inputs from, of constants packed beforehand (`forms`) the packed
/// elements, and gets one for every statement's target; `initial` holds the elements of the caller's buffers.
/// `runtime`: of a schedule with runtime sizes, else null.
LeftToPasses lower_statements(const ir::Program& program, const Schedule& schedule, const Target& target,
                              const std::vector<PackedForm>& forms, const RuntimeProgram* runtime,
                              const TensorFuncs& initial, TensorFuncs& values);

/// The same with no Func scheduled, each statement as plainly as it can be written: what an automatic scheduler starts
/// from. A reduction has a Func of its own, which the one that holds the target's elements reads.
void lower_unscheduled(const ir::Program& program, const TensorFuncs& initial, TensorFuncs& values);

}  // namespace tile_tune::codegen
