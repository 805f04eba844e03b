// Which of these kernels is fastest? Runs in a child that holds the machine for itself (the tuner keeps the lock).
#pragma once

#include "search/judge/host_kernel.h"
#include "search/timing/contests.h"
#include "search/timing/deadline.h"
#include "search/timing/timing.h"

namespace tile_tune::search {

/// Screening, then successive halving: rungs of rounds in random order, equal time each, the better half goes on;
/// the default (number 0) and the other exempt ones run in every round. One Timing a library; where the deadline came
/// before its first round one that is Ok without samples.
Reply race(const Executor& executor, const Problem& problem, const std::vector<std::filesystem::path>& libraries,
           const Race& protocol, Deadline deadline, double call_seconds, int reply_fd);

/// Rounds of everybody and the roofline probes, in random order: at least protocol.rounds, then on until
/// protocol.seconds are spent. Where the deadline is near it is first the probes that are left out, then rounds. There
/// are no probes of a GPU, whose kernels come without a runtime.
Reply finals(const Executor& executor, const Problem& problem, const std::vector<std::filesystem::path>& libraries,
             const Finals& protocol, Deadline deadline, const Runtime* runtime, double call_seconds, int reply_fd);

}  // namespace tile_tune::search
