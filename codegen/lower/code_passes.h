// Decisions that Halide has no directive for, or a wrong one: passes over the lowered code. A row of kCodePasses each.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "Halide.h"
#include "codegen/lower/statements.h"

namespace tile_tune::codegen {

struct CodePass {
  std::unique_ptr<Halide::Internal::IRMutator> pass;
  const char* remark;  // what the Halide source of the schedule lacks for it, in a sentence
};

/// Nothing where no nest asks for the pass.
using MakeCodePass = std::optional<CodePass> (*)(const ir::Program&, const std::map<int, ScheduledNest>&);

/// In the order in which they run.
inline constexpr std::array<MakeCodePass, 0> kCodePasses = {};

}  // namespace tile_tune::codegen
