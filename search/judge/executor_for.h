// Which executor a target has: the one place that knows them all.
#pragma once

#include <memory>
#include <string>

#include "codegen/target/target.h"
#include "search/judge/executor.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::search {

/// The one for kernels of the target with this function, which take a context if it is for a device or says so.
std::unique_ptr<Executor> executor_for(const codegen::Target& target, const std::string& function = kKernelFunction);

}  // namespace tile_tune::search
