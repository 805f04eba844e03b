// Schedules of a program against the libraries a user would call instead, in one process.
//
// Everybody is built, checked against the reference like any candidate, and timed in rounds (timing/side_by_side.h).
// What cannot be built, is wrong or crashes is named with its reason, and the others go on.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "search/baselines/baseline_source.h"
#include "search/timing/statistics.h"
#include "search/workers/machine_lock.h"
#include "search/workers/pool.h"
#include "search/workers/session_directory.h"

namespace tile_tune::search {

struct ContestOptions {
  std::vector<std::string> command = {"/proc/self/exe", "worker"};
  codegen::Target target;
  uint64_t seed = 0;
  int rounds = kFewestRounds;
  double seconds = 1;
  std::string fetched = {};  // the folder of fetched libraries, absolute; "": there are none
  const std::atomic<bool>* stop = nullptr;
  Onlooker onlooker = {};
};

struct NamedSchedule {
  std::string name;  // "default", "tuned", "given", each also with "-packed" behind it
  codegen::Schedule schedule;
  bool packed = false;  // of the program with its constants constant
};

struct Entry {
  std::string name;
  std::optional<Baseline> baseline;
  bool is_autoscheduled = false;  // by the scheduler of this name; neither: a schedule of ours
  Outcome outcome = Outcome::Ok;  // Slow: left out of the rounds; samples_ns holds what it took
  std::string reason, note;
  double verify_error = 0;
  std::vector<double> samples_ns, flop_fractions, bandwidth_fractions;  // one a round
  bool disturbed = false;
  double launch_ns = 0;  // what a call took the host, where samples are by a device's clock
  bool is_own() const { return !baseline && !is_autoscheduled; }
  bool ran() const { return outcome == Outcome::Ok && !samples_ns.empty(); }
  /// A library this machine does not have: headers are missed when it is compiled, OpenBLAS, of which none are used,
  /// when it is first called.
  bool is_absent() const;
};

struct ContestResult {
  std::vector<Entry> entries;  // schedules first, then those of automatic schedulers, then baselines that apply
  bool alone = true;           // nothing else of ours ran meanwhile
  bool sampled = false;        // outputs were checked in part
  std::string condition;       // of the device when all was timed, as far as it tells
};

/// Keeps what all programs share: the session's directory and Halide's runtime.
class Contest {
 public:
  static Result<std::unique_ptr<Contest>> start(ContestOptions options);

  /// `program` is canonical and bound, without constants; `schedules` holds at least one, the first is what log-ratios
  /// are to. Only baselines of `against` that apply take part. `constants` are packed beforehand for those who can.
  Result<ContestResult> run(const ir::Program& program, const std::vector<NamedSchedule>& schedules,
                            const std::vector<Baseline>& against, const std::set<int>& constants,
                            const std::vector<std::string>& autoschedulers = {});

 private:
  Contest(ContestOptions options, SessionDirectory directory)
      : options_(std::move(options)), directory_(std::move(directory)) {}
  Setup setup() const;
  /// A program's files in the directory, and who takes part, in one order with the libraries made for them.
  struct Match {
    std::string problem;
    std::vector<Entry> entries;
    std::vector<std::string> libraries;
  };
  Result<void> build_schedules(Pool& pool, const std::vector<NamedSchedule>& schedules, Match& match);
  Result<void> build_autoscheduled(const std::vector<std::string>& schedulers, Match& match);
  std::string packed_problem(const std::string& problem) const { return problem + "-packed"; }
  void build_baselines(const ir::Program& program, const std::vector<Baseline>& against, const std::set<int>& constants,
                       Match& match);
  Result<void> verify(Pool& pool, Match& match);
  Result<bool> time(Match& match, std::string& condition);
  std::optional<Reply> time(const std::vector<size_t>& who, const Match& match);

  ContestOptions options_;
  SessionDirectory directory_;
  int problems_ = 0;
};

/// The baseline that decision 19 compares with: the fastest of the libraries; where none has the program's operations,
/// the loops. Number in `entries`, -1 if no baseline ran. Packed baselines are a class of their own.
int best_baseline(const std::vector<Entry>& entries);
/// What kernels with packed constants compare with (decision 19): the fastest oneDNN with its own packed ones, else the
/// best.
int best_packed_baseline(const std::vector<Entry>& entries);

/// The fastest kernel an automatic scheduler made: number in `entries`, -1 if none ran.
int best_autoscheduled(const std::vector<Entry>& entries);

/// Speed of `one` relative to `other`: how many times faster it is, with the 95 % interval of the median over rounds.
struct Ratio {
  double median = 0;
  Interval interval;
};
std::optional<Ratio> speed_ratio(const Entry& one, const Entry& other, uint64_t seed);

}  // namespace tile_tune::search
