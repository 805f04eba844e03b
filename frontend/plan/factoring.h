// Which sums over products of three and more tensors are computed in steps, and how.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/plan/path.h"

namespace tile_tune::plan {

/// What a step costs that takes so many FLOP and leaves so many bytes.
using TrafficCost = std::function<double(double flops, double bytes)>;

/// The steps that cost less than the statements as they stand, of a bound program. Factors that must stay where they
/// are (factors.h) are multiplied in the last step; up to ten others are taken in the best order, more in a good one,
/// with parentheses kept. Of up to ten the last step may multiply more than two. Empty: the program is best as it is.
Path best_path(const ir::Program& program, const TrafficCost& cost);

/// A sum that is computed with more than twice the FLOP of its best steps, and what keeps it from these.
struct Unfactored {
  int statement = 0;
  double flops = 0, possible_flops = 0;
  std::string reason;  // a sentence without its full stop: "the term is a sum of products"
};
/// Of a bound program on that path. Orders that parentheses fix are wanted so.
std::vector<Unfactored> unfactored(const ir::Program& program, const Path& path);

}  // namespace tile_tune::plan
