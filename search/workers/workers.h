// The Measurer that tunes for real: candidates are built, verified and timed in `tile-tune worker` processes.
//
// A batch is built by all workers at once, then verified side by side, then raced in one child with nothing else of
// ours running on the machine. Nothing a candidate does reaches this process: faults come back as outcomes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "frontend/reference/reference.h"
#include "search/judge/problem.h"
#include "search/workers/machine_lock.h"
#include "search/workers/measurer.h"
#include "search/workers/pool.h"
#include "search/workers/session_directory.h"

namespace tile_tune::search {

/// The same program at small odd sizes with the schedule adapted to them, if there is such a thing.
using SmallVariant = std::function<std::optional<std::pair<ir::Program, codegen::Schedule>>(const ir::Program&,
                                                                                            const codegen::Schedule&)>;

struct WorkerOptions {
  std::vector<std::string> command = {"/proc/self/exe", "worker"};  // must end in worker_main()
  codegen::Target target;                                           // target.threads: what kernels run on
  int jobs = 0;                                                     // processes that build at once; 0: one a core
  Limits limits;
  uint64_t seed = 0;               // of inputs, samples and the order of rounds
  double least_build_seconds = 3;  // CPU time for any candidate, also where the default compiles in no time
  double race_seconds_per_kernel = 0.04;
  int finals_rounds = kFewestRounds;        // at least
  double finals_seconds = kFinalsSeconds;   // go on until these are spent
  const std::atomic<bool>* stop = nullptr;  // set from outside, for example by SIGINT: measure() returns early
  Deadline deadline = {};                   // of start() and of run_once(); the others are told their own
  double whole_seconds = kWholeSeconds;     // of a core for the reference, beyond which a sample must do
  Onlooker onlooker = {};
  std::optional<ir::Program> written = {};  // the program before its sums of products were put into steps
  SmallVariant small_variant;               // asked where the reference is too long to be checked in full; may be empty
};

class Workers : public Measurer {
 public:
  /// Computes the reference and builds the runtime. `program` is canonical and bound. Fails if the reference cannot be
  /// evaluated, no worker can be started, or the target cannot be compiled for; with the code kOutOfTime if the
  /// deadline comes first.
  static Result<std::unique_ptr<Workers>> start(ir::Program program, const codegen::Schedule& default_schedule,
                                                WorkerOptions options);

  /// After a set stop flag or the deadline a batch comes back short: only the candidates before the first unfinished
  /// one.
  std::vector<Measurement> measure(const std::vector<codegen::Schedule>& batch, const codegen::Schedule& incumbent,
                                   Deadline deadline = {}) override;
  std::vector<Measurement> finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline = {}) override;

  /// How inputs were narrowed to keep the reference finite, or empty; belongs into the record.
  const std::string& inputs_note() const { return inputs_note_; }

  /// Why measure() or finals() came back short although nobody asked to stop: no space is left for temporary files.
  const std::optional<Diagnostic>& trouble() const { return trouble_; }

 private:
  struct Candidate {
    codegen::Schedule schedule;
    std::string library;
    Measurement measurement;
    std::string twin;          // id of the earlier candidate with the same code; empty: none
    bool prepared = false;     // built, and verified if it is no duplicate
    bool hopeless = false;     // its first call was too long for a second
    bool judged_once = false;  // by a first call alone, which is enough until it is to be kept
  };
  using Ids = std::vector<std::string>;

  Workers(ir::Program program, const codegen::Schedule& default_schedule, WorkerOptions options,
          SessionDirectory directory);
  Result<void> set_up();
  tl::unexpected<Diagnostic> unfinished() const;
  std::string know(const codegen::Schedule& schedule);
  bool prepare(const Ids& ids);
  /// CPU time that compiling the schedule may take.
  double build_seconds(const std::string& id) const;
  Until until() const { return {options_.stop, deadline_}; }
  std::optional<Reply> ask_twice(Pool& pool, const Request& request) const;
  bool build(const Ids& ids);
  bool build_small_variants(const Ids& ids, std::map<std::string, Verify>& checks);
  bool check(const std::map<std::string, Verify>& requests, size_t at_once, const std::string& where);
  bool verify(const Ids& ids, double hopeless_ns);
  bool verify_in_full(const Ids& ids);
  bool verify_best(const Ids& contestants);
  bool verify_small_variants(const Ids& ids);
  bool is_to_be_verified(const std::string& id) const;
  double hopeless_ns() const;
  void record_hopeless(Candidate& candidate, Timing timing) const;
  Result<void> keep_problem(const ir::Program& program, const std::string& name, const std::optional<Reply>& reply);
  MakeProblem request_problem(const ir::Program& program, const std::string& name) const;
  Result<std::string> problem_for(const ir::Program& program);
  std::vector<Timing> time(Pool& pool, const Ids& contestants,
                           const std::function<Request(const std::vector<std::string>& libraries)>& request);
  Pool::OnAnswer counting(const char* what, size_t all) const;
  const Candidate& resolve(const std::string& id) const;
  Measurement report(const std::string& id) const;
  Setup setup() const { return {directory_.path(), options_.target, options_.limits}; }

  ir::Program program_;
  WorkerOptions options_;
  SessionDirectory directory_;
  Deadline deadline_;      // of the call in progress
  std::mt19937_64 seeds_;  // for the order of rounds
  std::string default_id_;
  std::string inputs_note_;
  std::optional<Diagnostic> trouble_;
  bool sampled_ = false;
  std::map<std::string, std::string> problems_;       // program's JSON -> directory
  std::map<std::string, Candidate> known_;            // schedule_id -> what was learned in this session
  std::map<std::string, std::string> first_of_code_;  // code hash -> schedule_id
  Pool pool_;                                         // last: workers end before the directory goes
};

inline constexpr const char* kOutOfTime = "out-of-time";

/// Builds the schedule and executes it once on these inputs in a worker. Outputs in signature order. The caller
/// compares.
Result<std::vector<tensor::Array>> run_once(const ir::Program& program, const codegen::Schedule& schedule,
                                            const reference::Inputs& inputs, const WorkerOptions& options);

}  // namespace tile_tune::search
