#include "codegen/emit/alternatives.h"

#include "codegen/emit/cpu_features.h"

namespace tile_tune::codegen {

std::vector<Variant> alternatives_of(const Kernel& kernel, const Target& target) {
  auto all = kernel.variants;
  all.push_back({target, kernel.schedule, kernel.provenance, kernel.record, kernel.rung});
  return all;
}

Result<std::vector<Alternative>> described_alternatives(const Kernel& kernel, const Target& target) {
  std::vector<Alternative> described;
  for (const auto& one : alternatives_of(kernel, target)) {
    TILE_TUNE_TRY(features, required_cpu_features(one.target));
    Kernel alone = kernel;
    alone.schedule = one.schedule;
    TILE_TUNE_TRY(signature, make_signature(alone));
    described.push_back({std::move(features), std::move(signature)});
  }
  return described;
}

Result<Signature> entry_signature(const Kernel& kernel, const Target& target) {
  TILE_TUNE_TRY(described, described_alternatives(kernel, target));
  return with_room_for_all(described);
}

}  // namespace tile_tune::codegen
