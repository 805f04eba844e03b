// What a search is asked for: its budget, and whoever watches it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/records/workload.h"
#include "search/evolve/tune.h"
#include "search/timing/deadline.h"
#include "search/workers/onlooker.h"

namespace tile_tune::engine {

using search::now_seconds;

/// Without trials and seconds: 60 s, or what the unfinished session that is resumed has left.
struct TuningRequest {
  std::optional<int> trials;
  std::optional<double> seconds;
  std::optional<uint64_t> seed;
  bool resume = false;
  bool may_begin = false;                               // resuming: that there is nothing to resume is not worth a word
  search::Strategy strategy = search::Strategy::Model;  // of a new session; a resumed one keeps its own
  std::vector<codegen::Schedule> seeds = {};            // tried first; they fit the program
};

/// Less is spent on starting worker processes and on the reference.
constexpr double kLeastSearchSeconds = 2;

/// Goes on with what an unfinished session has left.
bool has_stored_budget(const TuningRequest& request);

/// What the search will stop at.
search::Budget wanted_budget(const TuningRequest& request);
/// Of the whole search; infinite where trials alone count, or where what an unfinished session has left does.
double wanted_seconds(const TuningRequest& request);

struct Watch {
  double began;                   // when the budget began to run, by now_seconds()
  const std::atomic<bool>& stop;  // set from outside: the search ends early, what is finished is kept
  search::ProgressCallback progress = {};
  search::Onlooker onlooker = {};
  search::Deadline last = {};  // nothing goes on beyond it, not even the default schedule's trial
};

/// What the default schedule may take beyond a budget of so many seconds: without its trial there is nothing to tell.
/// All has ended 3 s after the budget, or a tenth of it, at the latest; of less than ten seconds 8 s.
double overtime(double seconds);

/// How a request is shared out where a program is searched in two forms, in steps and as written.
struct Shares {
  TuningRequest first;                   // all of it where there is one form
  std::optional<TuningRequest> written;  // none: too little to learn anything
};
/// The share of the form as written is that of its promise: the FLOP of the steps in those of both.
Shares shares_of(const Workload& workload, const TuningRequest& request);
/// What of a share for the form as written the time left allows; nullopt: too little.
std::optional<TuningRequest> within(TuningRequest share, search::Deadline end);

}  // namespace tile_tune::engine
