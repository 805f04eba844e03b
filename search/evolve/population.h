// What the search knows: which schedules were tried, and the verified ones ranked by their speed relative to the
// default. All that ever verified stays (elitism): parents are taken from the best of everything measured.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "search/judge/trial.h"

namespace tile_tune::search {

struct Member {
  codegen::Schedule schedule;
  std::string key;
  double ratio = 0;  // Measurement::ratio; absolute times of different runs are never compared
  double median_ns = 0;
};

struct Population {
  std::vector<Member> ranked;             // best first; of equal ratios the earlier tried
  std::unordered_set<std::string> tried;  // and those refused beforehand: never proposed (again)
};

/// Marks the schedule as tried and, if it verified and has a usable ratio, ranks it.
void add(Population& population, const codegen::Schedule& schedule, const std::string& key,
         const Measurement& measurement);

/// The member of that key; null if it is not among the verified.
const Member* find(const Population& population, const std::string& key);

}  // namespace tile_tune::search
