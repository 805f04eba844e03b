// Decisions that Halide has no directive for, or a wrong one: passes over the lowered code. A row of kCodePasses each.
#pragma once

#include <memory>
#include <vector>

#include "Halide.h"
#include "codegen/lower/stage.h"

namespace tile_tune::codegen {

/// A stage with a nest, once that is scheduled.
struct ScheduledStage {
  const NestSchedule& schedule;
  const Stage& stage;
};

struct CodePass {
  std::unique_ptr<Halide::Internal::IRMutator> pass;
  const char* remark;  // what the Halide source of the schedule lacks for it, in a sentence
};

/// Nothing where no stage asks for the pass.
using MakeCodePass = std::optional<CodePass> (*)(const ir::Program&, const std::vector<ScheduledStage>&);

std::optional<CodePass> loads_ahead(const ir::Program& program, const std::vector<ScheduledStage>& stages);

/// In the order in which they run.
inline constexpr MakeCodePass kCodePasses[] = {loads_ahead};

}  // namespace tile_tune::codegen
