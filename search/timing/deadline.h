// Until when something may take, as a point of the clock: whoever is handed it hands it on to all that it waits for.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>

namespace tile_tune::search {

/// Seconds of the steady clock, which the processes of a machine share and nobody sets.
double now_seconds();

struct Deadline {
  double at = std::numeric_limits<double>::infinity();  // by now_seconds(); infinite: there is none

  static Deadline after(double seconds) { return {now_seconds() + seconds}; }
  double left() const { return at - now_seconds(); }
  bool passed() const { return left() <= 0; }
};

inline Deadline earlier(Deadline one, Deadline other) { return {std::min(one.at, other.at)}; }

/// What ends work before it is done.
struct Until {
  const std::atomic<bool>* stop = nullptr;  // set from outside; may be null
  Deadline deadline = {};

  bool over() const { return (stop && *stop) || deadline.passed(); }
};

}  // namespace tile_tune::search
