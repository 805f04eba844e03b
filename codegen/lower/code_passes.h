// Decisions that Halide has no directive for, or a wrong one: passes over the lowered code. A row of kCodePasses each.
#pragma once

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

std::optional<CodePass> products_of_tiles(const ir::Program& program, const std::map<int, ScheduledNest>& nests);
std::optional<CodePass> loads_ahead(const ir::Program& program, const std::map<int, ScheduledNest>& nests);
std::optional<CodePass> streams(const ir::Program& program, const std::map<int, ScheduledNest>& nests);
std::optional<CodePass> blocks_ahead(const ir::Program& program, const std::map<int, ScheduledNest>& nests);

/// In the order in which they run.
inline constexpr MakeCodePass kCodePasses[] = {products_of_tiles, loads_ahead, blocks_ahead, streams};

}  // namespace tile_tune::codegen
