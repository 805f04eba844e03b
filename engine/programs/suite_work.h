// A suite's workloads one after the other: what fails is told of, and the others go on.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/session/reporter.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// Whether an error of one workload would be the error of every other one too: the disk, the database, the compiler.
bool concerns_all(const Diagnostic& error);

/// A workload that failed.
struct Unfinished {
  std::string name;
  Diagnostic why;
};

/// work(i) for the i-th name. Its errors are told, by name, and the next workload's turn comes, unless the error
/// concerns all or `stop` is set.
std::vector<Unfinished> work_through(const std::vector<std::string>& names,
                                     const std::function<Result<void>(size_t)>& work, const std::atomic<bool>& stop,
                                     const Reporter& report);

/// The error of a suite some of whose workloads were not `done` ("tuned", "measured"): of the class of `first`.
Diagnostic incomplete_suite(const Diagnostic& first, size_t failed, size_t all, const std::string& done);

}  // namespace tile_tune::engine
