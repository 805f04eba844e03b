// Pieces of work that do not depend on each other, at once, each in a forked child.
//
// The compiler makes up names from what its process compiled before, and may abort the process. Children of one process
// all begin with the same history: what they make depends neither on how many of them run at once nor on which ends
// first, and an abort is one child's.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/process/wait.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::base {

/// work(0) ... work(count - 1), at most `at_once` (1 or more) at a time; the values they returned, in this order. After
/// the first error no further child is started, and of all errors the one of the lowest number is returned. A child
/// that dies is an error of class Failure, code compiler-died, with the first line it wrote to standard error; so is
/// one that somebody stopped and did not let go on within `grace`. The calling process must have one thread.
Result<std::vector<nlohmann::json>> in_children(size_t count, size_t at_once,
                                                const std::function<Result<nlohmann::json>(size_t)>& work,
                                                std::chrono::milliseconds grace = kGrace);

/// What another process of ours said with to_json(); the place is lost, and what is missing reads as a Failure.
Diagnostic diagnostic_from_json(const nlohmann::json& json);

}  // namespace tile_tune::base
