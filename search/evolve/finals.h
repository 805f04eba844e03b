// The finals: which candidates are timed once more, and who wins. The figures of the search decide only who takes
// part: the best of many noisy figures is too good to be true.
#pragma once

#include <string>
#include <vector>

#include "search/evolve/population.h"

namespace tile_tune::search {

/// The default first, then the previous best (if it verified in this session), then the best of the rest, up to
/// `challengers` of them that were not far slower than the default. Empty if the default is not in the population.
std::vector<Member> finalists(const Population& population, const std::string& default_key,
                              const std::string& previous_key, int challengers);

/// Who wins: an index into the finalists. The one that stands is the previous best, if it is there (at 1) and its
/// interval does not lie below the default; else the default. A challenger replaces it only if the intervals of its
/// times to the default's and to the standing one's, paired by rounds, both exclude 1; of several the fastest.
size_t decide(const std::vector<Measurement>& finals, bool with_previous);

/// Whether a kernel is known to be slower than the default: its interval lies below that one's speed.
bool is_slower(const Measurement& measurement);

/// How many rounds all of those have who came to the end.
size_t rounds_of(const std::vector<Measurement>& finals);

/// Without finals: whether a candidate was ahead in its race of one that is `standing_ratio` times as fast as the
/// default, by more than differences of single races mean: the whole interval of its rounds, of a few each of them.
bool is_far_ahead(const Measurement& trial, double standing_ratio);

/// The figures of a race with the interval that its rounds give; 0 and 0 where these are too few for any.
Measurement with_interval(Measurement trial);

/// The default's own figures: whatever its rounds were, it is as fast as itself.
Measurement as_default(Measurement trial);

/// The default took far longer in the finals than in its trial, or the other way round: somebody else had a core in one
/// of them. No sample shows that where a thread of the pool gets no core at all, since the others do its work.
bool at_odds(const Measurement& final_default, const Measurement& trial);

}  // namespace tile_tune::search
