// The workloads that programs come to when they are tuned, all of them checked before the first one's turn.
#pragma once

#include <string>
#include <vector>

#include "engine/programs/bindings.h"
#include "engine/programs/variants.h"
#include "engine/session/reporter.h"

namespace tile_tune::engine {

/// What would stop a package of this name in `directory`; empty: none is asked for.
Result<void> check_package(const std::string& name, const std::string& directory);

/// Each program, and, with `weights`, a suite's a second time with its weights constant; packages of them in one
/// `directory` have names of their own. `given`: sizes that go before those of a suite. What is wrong with any of them,
/// and the warnings of all, come here; that a suite's workload is too large is told in its turn. Must not outlive
/// `loaded`.
Result<std::vector<Variant>> tuning_tasks(const std::vector<LoadedProgram>& loaded, const BindingOptions& options,
                                          const ir::Sizes& given, bool weights, const std::string& directory,
                                          const Reporter& report);

}  // namespace tile_tune::engine
