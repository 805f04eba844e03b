#include "engine/packages/package_targets.h"

#include "codegen/emit/cpu_features.h"

namespace tile_tune::engine {

Result<std::vector<codegen::Target>> package_targets(const Session& session) {
  TILE_TUNE_TRY(targets, session.targets());
  if (targets.size() == 1) {
    TILE_TUNE_TRY(features, codegen::required_cpu_features(targets.front()));  // what packages can serve
    return targets;
  }
  return codegen::dispatch_order(std::move(targets));
}

Result<codegen::Kernel> kernel_for(const Workload& workload, const std::string& function,
                                   const std::vector<codegen::Target>& targets, const ChooseSchedule& choose) {
  codegen::Kernel kernel;
  kernel.program = workload.program;
  if (workload.written) kernel.written = workload.written->program;
  kernel.function = function;
  for (const auto& target : targets) {
    TILE_TUNE_TRY(choice, choose(target));
    if (&target != &targets.back()) {
      kernel.variants.push_back({target, choice.schedule, choice.provenance, choice.record, choice.rung});
      continue;
    }
    kernel.schedule = std::move(choice.schedule);
    kernel.provenance = std::move(choice.provenance);
    kernel.record = std::move(choice.record);
    kernel.rung = std::move(choice.rung);
  }
  return kernel;
}

}  // namespace tile_tune::engine
