// Kernels of different makers in one process: ours, and libraries that bring thread pools of their own.
#pragma once

#include "search/judge/host_kernel.h"
#include "search/timing/contests.h"
#include "search/timing/timing.h"

namespace tile_tune::search {

/// Rounds of everybody and the roofline probes in random order, at least protocol.rounds of them and on until
/// protocol.seconds are spent; one sample of each a round, so that sample r of all was taken in round r. One Timing a
/// library; log_ratios are to libraries[0].
///
/// Idle threads of OpenMP and OpenBLAS spin for milliseconds after a call, on the cores the next kernel runs on. So
/// before each sample all threads are waited for until they sleep, and calls that are not timed wake those of the
/// sample's own pool and warm it up: each runs as it would alone, back to back, with its default way of waiting. Every
/// thread a library starts is given a core of its own, as ours are.
Reply side_by_side(const Executor& executor, const Problem& problem,
                   const std::vector<std::filesystem::path>& libraries, const SideBySide& protocol,
                   const Runtime& runtime, double call_seconds, int reply_fd);

}  // namespace tile_tune::search
