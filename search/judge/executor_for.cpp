#include "search/judge/executor_for.h"

#include "search/judge/device_executor.h"
#include "search/judge/host_executor.h"

namespace tile_tune::search {

std::unique_ptr<Executor> executor_for(const codegen::Target& target, const std::string& function) {
  if (target.device == codegen::Device::Gpu) return std::make_unique<DeviceExecutor>(target, function);
  return std::make_unique<HostExecutor>(function, target.features.has(codegen::Feature::UserContext));
}

}  // namespace tile_tune::search
