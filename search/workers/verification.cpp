// Workers verify candidates: which of them, how many at a time, and how much of those whose calls are long.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <tuple>

#include "search/timing/statistics.h"
#include "search/workers/child.h"
#include "search/workers/record.h"
#include "search/workers/workers.h"

namespace tile_tune::search {
namespace {

// Where calls are long the first is made on a machine that is ours alone, with threads in their places: it takes as
// long as later ones within some per cent, or twice 15 % where a machine is shared (decision 28). It is judged, and
// all else that a kernel is verified by follows once it is to be kept: half of what a trial of 0.26 s took was that.
constexpr double kHopeless = 1.3;

// Kernels handed out together to be verified. Each has the program's tensors in memory several times, which together
// may take an eighth of the machine's: others work on it too, and a container may have less.
size_t verified_at_once(const ir::Program& program) {
  constexpr double kShare = 1.0 / 8;
  const Limits nothing_else{.memory_bytes = 0};
  const auto each = static_cast<double>(limits_of_calls(nothing_else, {}, program, 1).memory_bytes);
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<size_t>(std::max(kShare * memory / std::max(each, 1.0), 1.0));
}

}  // namespace

bool Workers::check(const std::map<std::string, Verify>& requests, size_t at_once, const std::string& where) {
  for (auto next = requests.begin(); next != requests.end();) {
    Ids owners;
    std::vector<Request> some;
    for (; next != requests.end() && some.size() < at_once; ++next) {
      owners.push_back(next->first);
      some.push_back(next->second);
    }
    const auto replies = pool_.ask(some, deadline_, counting("verifying", some.size()));
    for (size_t i = 0; i < owners.size(); ++i) {
      auto reply = replies[i];
      // Beside others it had a part of the cores and of the memory.
      const bool had_a_part = some.size() > 1 || owners[i] == default_id_;
      if (reply && had_a_part && (reply->outcome == Outcome::Timeout || reply->outcome == Outcome::OutOfMemory))
        reply = pool_.ask(some[i], deadline_);
      if (!reply) return false;
      auto& measurement = known_[owners[i]].measurement;
      record_fault(measurement, *reply);
      measurement.verify_error = reply->verify_error;
      if (reply->outcome == Outcome::Slow)
        record_hopeless(known_[owners[i]], reply->timings.at(0));
      else if (reply->outcome != Outcome::Ok)
        measurement.reason = where + measurement.reason;
    }
  }
  return true;
}

void Workers::record_hopeless(Candidate& candidate, Timing timing) const {
  const double ns = timing.samples_ns.at(0), of_default = known_.at(default_id_).measurement.median_ns;
  timing.outcome = Outcome::Slow;
  timing.reason = fmt::format("{:.1f} times slower than the best", ns * kHopeless / hopeless_ns());
  if (of_default > 0) timing.log_ratios = {std::log(of_default / ns)};
  record_timing(candidate.measurement, timing, true);
  candidate.hopeless = true;
}

// Loading and comparing is the work of one thread each, and nobody looks at the clock; unless calls are long, which are
// most of the work then.
bool Workers::verify(const Ids& ids, double hopeless_ns) {
  const auto mode = hopeless_ns > 0 ? MachineLock::Mode::Exclusive : MachineLock::Mode::Shared;
  const auto lock = MachineLock::acquire(mode, until(), options_.onlooker);
  if (!lock) return false;
  if (!lock->held()) hopeless_ns = 0;
  std::map<std::string, Verify> checks;
  for (const auto& id : ids)
    if (is_to_be_verified(id)) checks[id] = Verify{"problem-0", kRuntime, known_[id].library, hopeless_ns};
  if (!check(checks, hopeless_ns > 0 ? 1 : verified_at_once(program_), "")) return false;
  for (const auto& [id, request] : checks) known_[id].judged_once = hopeless_ns > 0;
  return true;
}

/// Those that were judged by one call, by all calls. What a race said of who is right stands.
bool Workers::verify_in_full(const Ids& ids) {
  std::map<std::string, Verify> checks;
  std::map<std::string, Reply> raced;
  for (const auto& id : ids) {
    const std::string& judged = known_.at(id).twin.empty() ? id : known_.at(id).twin;
    const auto& [outcome, reason] = std::tie(known_[judged].measurement.outcome, known_[judged].measurement.reason);
    const bool may_run = outcome == Outcome::Ok || outcome == Outcome::Slow;
    if (!known_[judged].judged_once || known_[judged].hopeless || !may_run) continue;
    checks[judged] = Verify{"problem-0", kRuntime, known_[judged].library};
    raced[judged] = Reply::fault(outcome, reason);
  }
  if (checks.empty()) return true;
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, until(), options_.onlooker);
  if (!lock || !check(checks, verified_at_once(program_), "")) return false;
  for (const auto& [id, said] : raced) {
    known_[id].judged_once = false;
    if (known_[id].measurement.outcome == Outcome::Ok) record_fault(known_[id].measurement, said);
  }
  return true;
}

/// The fastest contestant, or the next where that one turns out to be wrong.
bool Workers::verify_best(const Ids& contestants) {
  while (true) {
    std::string best;
    double score = -std::numeric_limits<double>::infinity();
    for (const auto& id : contestants) {
      const auto& [outcome, ratios] = std::tie(known_[id].measurement.outcome, known_[id].measurement.log_ratios);
      if (outcome != Outcome::Ok || ratios.empty() || median(ratios) <= score) continue;
      best = id;
      score = median(ratios);
    }
    if (best.empty() || !known_[best].judged_once) return true;
    if (!verify_in_full({best})) {
      known_[best].measurement.samples_ns.clear();  // as one that was never timed
      return false;
    }
  }
}

bool Workers::verify_small_variants(const Ids& ids) {
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, until(), options_.onlooker);
  std::map<std::string, Verify> checks;
  if (!lock || !build_small_variants(ids, checks)) return false;
  if (!check(checks, verified_at_once(program_), "at a small odd size: ")) return false;
  for (const auto& [id, request] : checks) {
    std::error_code ignored;
    std::filesystem::remove(directory_.path() / request.library, ignored);
  }
  return true;
}

bool Workers::is_to_be_verified(const std::string& id) const {
  const Candidate& candidate = known_.at(id);
  return !candidate.prepared && candidate.measurement.outcome == Outcome::Ok;
}

/// Where calls are long, the time from which on one is not worth a second call; else 0.
double Workers::hopeless_ns() const {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [id, candidate] : known_) {
    const Measurement& known = candidate.measurement;
    if (known.outcome == Outcome::Ok && known.median_ns > 0) best = std::min(best, known.median_ns);
  }
  return std::isfinite(best) && best > kLongCallNs ? kHopeless * best : 0;
}

}  // namespace tile_tune::search
