// The collapsed form of a program (ir/collapsed.h), where a schedule speaks of that.
#pragma once

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// A program and a schedule that speaks of it as it is.
struct CollapsedForm {
  ir::Program program;
  Schedule schedule;
};

/// Of a schedule that is `collapsed`. Class Program: nothing of this program collapses, or it is for many sizes.
Result<CollapsedForm> collapsed_form(const ir::Program& program, const Schedule& schedule);

}  // namespace tile_tune::codegen
