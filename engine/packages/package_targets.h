// --target T[,T...]: what a package is made for, and the kernels of one program for all of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/emit/package.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

/// In dispatch_order() (codegen/emit/cpu_features.h), the package's own target last. One target stays alone; several
/// are joined by the baseline of their platform, which runs where none of them does.
Result<std::vector<codegen::Target>> package_targets(const Session& session);

using ChooseSchedule = std::function<Result<ScheduleChoice>(const codegen::Target&)>;

/// A kernel with a schedule for each target.
Result<codegen::Kernel> kernel_for(const Workload& workload, const std::string& function,
                                   const std::vector<codegen::Target>& targets, const ChooseSchedule& choose);

}  // namespace tile_tune::engine
