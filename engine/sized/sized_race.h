// Kernels of one program built and raced at several of its sizes: what choose_members() decides by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/sized/choice.h"
#include "search/workers/size_contest.h"

namespace tile_tune::engine {

struct SizedRace {
  std::vector<TimedPoint> points;
  std::string fault;  // of the first kernel that failed: "wrong result"; empty without any
};

/// Kernels for a point alone.
using OwnKernels = std::function<Result<std::vector<codegen::EntryMember>>(const std::vector<int64_t>&)>;
/// Asked before each point.
using GoesOn = std::function<bool(const std::vector<int64_t>&)>;

/// `candidates` are as of choose_members(); where there are none, every point has kernels of its own, the first of
/// which is what others are compared with. A candidate that fails at one point is out at all of them; the generic one
/// failing is an error of class Verification.
Result<SizedRace> race_sized(search::SizeContest& contest, const codegen::SizedEntry& candidates, const OwnKernels& own,
                             const std::vector<std::vector<int64_t>>& points, const GoesOn& goes_on);

}  // namespace tile_tune::engine
