// Which kernels of many sizes go into a library, and which of them computes which size: by measured times alone.
#pragma once

#include <vector>

#include "codegen/emit/sized_entry.h"

namespace tile_tune::engine {

/// What was measured at one point. Speeds are relative to the generic kernel, the last of the candidates; 0: not there.
struct TimedPoint {
  std::vector<int64_t> at;
  std::vector<double> many;               // by candidate
  std::vector<codegen::EntryMember> own;  // kernels for this point alone
  std::vector<double> own_speeds;         // one each
};

/// Kernels for one size that a library of a range holds at most; each takes up to 40 KB.
inline constexpr size_t kMostOwn = 32;

/// `candidates`: kernels for many sizes, the last of which serves all, without a table; none at all where no kernel
/// serves several: then each point has the fastest of its own. Each cell gets the fastest
/// candidate, of those that serve it, at the nearest point, so that the choice changes halfway between two points at
/// which it differs. A point's own kernel is kept where it is faster than the candidate chosen there, of listed sizes
/// wherever it is not slower. What differs by less than the noise of a race counts as equal: then the generic one
/// stays.
codegen::SizedEntry choose_members(codegen::SizedEntry candidates, std::vector<TimedPoint> points);

}  // namespace tile_tune::engine
