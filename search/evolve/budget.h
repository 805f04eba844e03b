// Budgets of one invocation, in trials and in seconds. A budget decides when the search stops and cuts its last batch;
// it never changes what is bred, so that a resumed session goes the way of an uninterrupted one.
#pragma once

#include <optional>

namespace tile_tune::search {

struct Budget {
  std::optional<int> trials = std::nullopt;      // candidates measured, the default among them; finals not counted
  std::optional<double> seconds = std::nullopt;  // from the call of tune() to its return, the finals included
  std::optional<double> whole = std::nullopt;    // of which the finals may take their share; nothing: of `seconds`
  double overtime = 0;                           // what the default schedule may take beyond `seconds`
};

/// Seconds that the finals may take, whose rounds take `round_ns`: a tenth of all, or, where that is too short for
/// rounds that an interval can be taken from, up to a quarter.
double most_for_finals(const Budget& budget, double round_ns);

/// What measuring costs here, learnt from the batches so far. The first batch is left out: it pays for what is done
/// once (workers start, the reference is computed).
class Cost {
 public:
  void add_batch(int candidates, double seconds);
  /// Seconds a candidate (compile, verify, time); 0 until a second batch was measured.
  double per_candidate() const { return candidates_ > 0 ? seconds_ / candidates_ : 0; }

 private:
  bool first_seen_ = false;
  int candidates_ = 0;
  double seconds_ = 0;
};

/// Seconds that finals of kernels take whose median times sum up to `round_ns`, if nothing cuts them short.
double finals_seconds(const Cost& cost, double round_ns);

/// Whether finals with rounds of so many nanoseconds come to an end within `seconds`.
bool has_time_for_finals(double seconds, double round_ns);
/// Whether they come to rounds that an interval can be taken from.
bool has_time_for_short_finals(double seconds, double round_ns);

struct Spent {
  int trials = 0;
  double seconds = 0;
};

/// How many more candidates the budget allows, at most `wanted`, when `reserve` seconds are kept for the finals.
int allowed(const Budget& budget, const Spent& spent, const Cost& cost, double reserve, int wanted);

}  // namespace tile_tune::search
