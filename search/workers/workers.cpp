#include "search/workers/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/disk_space.h"
#include "codegen/target/host.h"
#include "frontend/ir/json.h"
#include "search/timing/roofline.h"
#include "search/timing/timing.h"
#include "search/workers/record.h"

namespace tile_tune::search {
namespace {

// CPU time for compiling the default schedule, without which there is nothing to compare with: no limit that suits
// candidates, of which there are many, may cost it.
constexpr double kDefaultBuildSeconds = 120;

// A candidate may take so many times as long to compile as the default. Of 3,896 trials of the public suite those that
// ran at 0.97 of the default's speed or above took at most 2.7 times as long; the 64 that no 10 s sufficed for took
// 640 s of compiling, all others together 1,700 (two Zen 4 cores).
constexpr double kBuildFactor = 4;

int job_count(const WorkerOptions& options) {
  return options.jobs > 0 ? options.jobs : static_cast<int>(codegen::available_cores().size());
}

tl::unexpected<Diagnostic> no_space(const Reply& reply) {
  return failure("disk-full", reply.reason, base::kNoSpaceNote);
}

// What a worker leaves of the time, so that its answer is here before the time is over and its processes are killed.
double seconds_to_answer(Deadline deadline) {
  constexpr double kMargin = 0.1, kShare = 0.1, kLeast = 0.01;
  const double left = deadline.left();
  if (!std::isfinite(left)) return 0;
  return std::max(left - std::max(kMargin, kShare * left), kLeast);
}

// The time was over before its first round.
bool is_untimed(const Timing& timing) { return timing.outcome == Outcome::Ok && timing.samples_ns.empty(); }

// Where the default, the first, failed, there is nothing that the others could have been compared with.
bool was_cut_short(const std::vector<Timing>& timings) {
  return timings.empty() ||
         (timings[0].outcome == Outcome::Ok && std::any_of(timings.begin(), timings.end(), is_untimed));
}

std::string key_of(const ir::Program& program) {
  return ir::to_json(program).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Workers::Workers(ir::Program program, const codegen::Schedule& default_schedule, WorkerOptions options,
                 SessionDirectory directory)
    : program_(std::move(program)),
      options_(std::move(options)),
      directory_(std::move(directory)),
      deadline_(options_.deadline),
      seeds_(options_.seed),
      pool_(options_.command, job_count(options_), setup(), options_.stop, options_.onlooker) {
  default_id_ = know(default_schedule);
}

Result<std::unique_ptr<Workers>> Workers::start(ir::Program program, const codegen::Schedule& default_schedule,
                                                WorkerOptions options) {
  TILE_TUNE_TRY(directory, SessionDirectory::create());
  std::unique_ptr<Workers> workers(
      new Workers(std::move(program), default_schedule, std::move(options), std::move(directory)));
  TILE_TUNE_CHECK(workers->set_up());
  return workers;
}

Result<void> Workers::set_up() {
  // Computing the reference keeps a core busy too.
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, until(), options_.onlooker);
  if (!lock) return unfinished();
  options_.onlooker.tell_doing("computing the reference");
  const std::string name = "problem-0";
  const auto replies = pool_.ask({request_problem(program_, name), BuildRuntime{kRuntime}}, deadline_);
  TILE_TUNE_CHECK(keep_problem(program_, name, replies[0]));
  const auto& runtime = replies[1];
  if (!runtime) return unfinished();
  if (runtime->outcome == Outcome::NoSpace) return no_space(*runtime);
  if (runtime->outcome != Outcome::Ok)
    return failure("runtime-not-built", fmt::format("cannot build kernels on this machine: {}", runtime->reason));
  return {};
}

tl::unexpected<Diagnostic> Workers::unfinished() const {
  if (options_.stop && *options_.stop) return failure("stopped", "stopped before the first candidate was built");
  return failure(kOutOfTime, "the time was over before the first candidate was built");
}

MakeProblem Workers::request_problem(const ir::Program& program, const std::string& name) const {
  const bool first = problems_.empty();  // those at small sizes were never in another form, and take no time
  return {name, program, options_.seed, first ? options_.written : std::nullopt,
          first ? options_.whole_seconds : kWholeSeconds};
}

Result<void> Workers::keep_problem(const ir::Program& program, const std::string& name,
                                   const std::optional<Reply>& reply) {
  if (!reply) return unfinished();
  if (reply->error) return tl::unexpected(*reply->error);
  if (reply->outcome == Outcome::NoSpace) return no_space(*reply);
  if (reply->outcome != Outcome::Ok)
    return failure("reference-failed", fmt::format("the reference could not be computed: {}", reply->reason));
  if (problems_.empty()) {
    inputs_note_ = reply->note;
    sampled_ = reply->sampled;
  }
  problems_[key_of(program)] = name;
  return {};
}

// The reference of a program is computed once, however many schedules are judged by it.
Result<std::string> Workers::problem_for(const ir::Program& program) {
  if (const auto found = problems_.find(key_of(program)); found != problems_.end()) return found->second;
  const std::string name = fmt::format("problem-{}", problems_.size());
  TILE_TUNE_CHECK(keep_problem(program, name, pool_.ask(request_problem(program, name), deadline_)));
  return name;
}

// Tells how many of a round's requests are answered: "compiling 3 of 4".
Pool::OnAnswer Workers::counting(const char* what, size_t all) const {
  const auto tell = [this, what, all](size_t answered) {
    options_.onlooker.tell_doing(all > 1 ? fmt::format("{} {} of {}", what, std::min(answered + 1, all), all) : what);
  };
  tell(0);
  return tell;
}

std::string Workers::know(const codegen::Schedule& schedule) {
  const std::string id = codegen::schedule_id(schedule);
  auto [found, is_new] = known_.try_emplace(id);
  if (is_new) {
    found->second.schedule = schedule;
    found->second.library = fmt::format("kernel-{}.o", known_.size());
  }
  return id;
}

const Workers::Candidate& Workers::resolve(const std::string& id) const {
  const auto& candidate = known_.at(id);
  return candidate.twin.empty() ? candidate : known_.at(candidate.twin);
}

double Workers::build_seconds(const std::string& id) const {
  const double most = options_.limits.build_seconds;
  if (id == default_id_) return std::max(kDefaultBuildSeconds, most);
  const double of_default = known_.at(default_id_).measurement.compile_ms * 1e-3;
  return of_default > 0 ? std::min(std::max(kBuildFactor * of_default, options_.least_build_seconds), most) : most;
}

bool Workers::build(const Ids& ids) {
  std::vector<Request> requests;
  for (const auto& id : ids)
    requests.push_back(Build{"problem-0", known_[id].schedule, known_[id].library, build_seconds(id)});
  const auto replies = pool_.ask(requests, deadline_, counting("compiling", requests.size()));
  bool complete = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    auto& candidate = known_[ids[i]];
    if (!replies[i]) {
      complete = false;
      continue;
    }
    if (replies[i]->outcome == Outcome::NoSpace) {
      trouble_ = no_space(*replies[i]).value();
      complete = false;
      continue;
    }
    record_fault(candidate.measurement, *replies[i]);
    candidate.measurement.code_hash = replies[i]->code_hash;
    candidate.measurement.compile_ms = replies[i]->compile_ms;
    if (replies[i]->outcome != Outcome::Ok) {
      candidate.prepared = true;
      continue;
    }
    const auto [first, is_new] = first_of_code_.try_emplace(replies[i]->code_hash, ids[i]);
    if (is_new || first->second == ids[i]) continue;  // the latter: built again, since it was not verified in time
    candidate.twin = first->second;
    candidate.prepared = true;
    std::error_code ignored;
    std::filesystem::remove(directory_.path() / candidate.library, ignored);
  }
  return complete;
}

// Where only a sample of the outputs is checked, the same schedule's structure is checked in full at small odd sizes.
bool Workers::build_small_variants(const Ids& ids, std::map<std::string, Verify>& checks) {
  if (!sampled_ || !options_.small_variant) return true;
  std::vector<Request> requests;
  Ids owners;
  for (const auto& id : ids) {
    auto& candidate = known_[id];
    if (!is_to_be_verified(id)) continue;
    const auto variant = options_.small_variant(program_, candidate.schedule);
    if (!variant) continue;
    const auto problem = problem_for(variant->first);
    if (!problem) continue;  // without a reference at small sizes the sample must do
    requests.push_back(Build{*problem, variant->second, "small-" + candidate.library, build_seconds(id)});
    checks[id] = Verify{*problem, kRuntime, "small-" + candidate.library};
    owners.push_back(id);
  }
  if (requests.empty()) return true;
  const auto replies = pool_.ask(requests, deadline_, counting("compiling small sizes", requests.size()));
  for (size_t i = 0; i < owners.size(); ++i) {
    if (!replies[i]) return false;
    if (replies[i]->outcome == Outcome::NoSpace) {
      trouble_ = no_space(*replies[i]).value();
      return false;
    }
    if (replies[i]->outcome == Outcome::Ok) continue;
    auto& candidate = known_[owners[i]];
    record_fault(candidate.measurement, *replies[i]);
    candidate.measurement.reason = "at a small odd size: " + candidate.measurement.reason;
    candidate.prepared = true;
    checks.erase(owners[i]);
  }
  return true;
}

// A call's time is limited by the clock, and a machine that was asleep for a while looks like a kernel that hangs: the
// default, and whatever ran before, are asked again.
std::optional<Reply> Workers::ask_twice(Pool& pool, const Request& request) const {
  auto reply = pool.ask(request, deadline_);
  if (reply && reply->outcome == Outcome::Timeout) reply = pool.ask(request, deadline_);
  return reply;
}

bool Workers::prepare(const Ids& ids) {
  Ids fresh;
  for (const auto& id : ids)
    if (!known_[id].prepared && std::find(fresh.begin(), fresh.end(), id) == fresh.end()) fresh.push_back(id);
  if (fresh.empty()) return true;
  {
    const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, until(), options_.onlooker);
    if (!lock || !build(fresh)) return false;
  }
  // At small sizes a wrong schedule is found sooner; one of long calls need not be compiled for them if it is hopeless.
  const double hopeless = hopeless_ns();
  if (hopeless > 0 ? !verify(fresh, hopeless) || !verify_small_variants(fresh)
                   : !verify_small_variants(fresh) || !verify(fresh, 0))
    return false;
  for (const auto& id : fresh) known_[id].prepared = true;
  return true;
}

// Timings in the order of contestants, the first of which is the default; empty if stopped. Should the whole race
// die, the default runs alone, then each of the others with it, so that only the guilty one is blamed.
std::vector<Timing> Workers::time(Pool& pool, const Ids& contestants,
                                  const std::function<Request(const std::vector<std::string>&)>& request) {
  std::vector<std::string> libraries;
  for (const auto& id : contestants) libraries.push_back(resolve(id).library);
  auto reply = ask_twice(pool, request(libraries));
  if (!reply) return {};
  if (reply->outcome == Outcome::Ok && reply->timings.size() == contestants.size()) return std::move(reply->timings);
  Timing fault;
  fault.outcome = reply->outcome;
  fault.reason = reply->reason;
  if (contestants.size() == 1) return {fault};
  std::vector<Timing> timings = time(pool, {contestants[0]}, request);
  if (was_cut_short(timings)) return {};
  if (timings[0].outcome != Outcome::Ok) {
    timings.resize(contestants.size());  // nothing to be compared with
    return timings;
  }
  if (contestants.size() == 2) {
    timings.push_back(fault);
    return timings;
  }
  for (size_t i = 1; i < contestants.size(); ++i) {
    auto pair = time(pool, {contestants[0], contestants[i]}, request);
    if (pair.empty()) return {};
    timings.push_back(std::move(pair[1]));
  }
  return timings;
}

Measurement Workers::report(const std::string& id) const {
  const auto& candidate = known_.at(id);
  if (candidate.twin.empty()) return candidate.measurement;
  Measurement measurement = known_.at(candidate.twin).measurement;
  measurement.samples_ns.clear();
  measurement.reason =
      fmt::format("the same code as schedule {:.12}, which was {}", candidate.twin, outcome_name(measurement.outcome));
  measurement.outcome = Outcome::Duplicate;
  measurement.compile_ms = candidate.measurement.compile_ms;
  return measurement;
}

std::vector<Measurement> Workers::measure(const std::vector<codegen::Schedule>& batch,
                                          const codegen::Schedule& incumbent, Deadline deadline) {
  deadline_ = deadline;
  Ids ids, wanted = {default_id_, know(incumbent)};
  for (const auto& schedule : batch) ids.push_back(know(schedule));
  wanted.insert(wanted.end(), ids.begin(), ids.end());
  bool finished = prepare(wanted);

  const bool default_is_good = known_[default_id_].prepared && known_[default_id_].measurement.outcome == Outcome::Ok;
  Ids contestants;
  int exempt = 0;
  for (size_t i = 0; finished && default_is_good && i < wanted.size(); ++i) {
    const auto& candidate = known_[wanted[i]];
    const auto outcome = candidate.measurement.outcome;
    const bool may_run =
        candidate.twin.empty() && !candidate.hopeless && (outcome == Outcome::Ok || outcome == Outcome::Slow);
    if (!may_run || std::find(contestants.begin(), contestants.end(), wanted[i]) != contestants.end()) continue;
    contestants.push_back(wanted[i]);
    if (i < 2) exempt = static_cast<int>(contestants.size());
  }
  const bool has_rivals = contestants.size() > static_cast<size_t>(exempt);
  if (has_rivals || std::any_of(contestants.begin(), contestants.end(),
                                [&](const std::string& id) { return known_[id].measurement.samples_ns.empty(); })) {
    const auto lock = MachineLock::acquire(MachineLock::Mode::Exclusive, until(), options_.onlooker);
    const uint64_t seed = seeds_();
    std::vector<Timing> timings;
    if (lock) {
      options_.onlooker.tell_doing(fmt::format("timing {}", contestants.size()));
      timings = time(pool_, contestants, [&](const std::vector<std::string>& libraries) {
        return Race{"problem-0",
                    kRuntime,
                    libraries,
                    std::min(exempt, static_cast<int>(libraries.size())),
                    seed,
                    options_.race_seconds_per_kernel,
                    seconds_to_answer(deadline_)};
      });
    }
    finished = !was_cut_short(timings);
    for (size_t i = 0; i < timings.size(); ++i)
      if (finished || !is_untimed(timings[i]))
        record_timing(known_[contestants[i]].measurement, timings[i], lock->held());
  }
  finished = finished && verify_best(contestants);

  std::vector<Measurement> result;
  for (const auto& id : ids) {
    const auto& candidate = resolve(id);
    // Prepared but never timed: the race was interrupted.
    const bool untimed = candidate.measurement.outcome == Outcome::Ok && candidate.measurement.samples_ns.empty();
    if (!finished && (!known_[id].prepared || !candidate.prepared || untimed)) break;
    result.push_back(report(id));
  }
  return result;
}

std::vector<Measurement> Workers::finals(const std::vector<codegen::Schedule>& finalists, Deadline deadline) {
  deadline_ = deadline;
  Ids ids;
  for (const auto& schedule : finalists) ids.push_back(know(schedule));
  if (!prepare(ids) || !verify_in_full(ids)) return {};
  // What is the same code is timed once, and has the same figures: against itself it would win or lose by chance.
  const auto may_run = [&](const std::string& id) {
    const auto outcome = resolve(id).measurement.outcome;
    return !resolve(id).hopeless && (outcome == Outcome::Ok || outcome == Outcome::Slow);
  };
  const auto is_same = [&](const std::string& one, const std::string& other) {
    return &resolve(one) == &resolve(other);
  };
  Ids contestants;
  for (const auto& id : ids)
    if (may_run(id) && std::none_of(contestants.begin(), contestants.end(),
                                    [&](const std::string& other) { return is_same(id, other); }))
      contestants.push_back(id);
  std::vector<Measurement> result;
  for (const auto& id : ids) result.push_back(known_[id].twin.empty() ? known_[id].measurement : report(id));
  if (contestants.empty() || contestants[0] != ids[0]) return result;

  const auto lock = MachineLock::acquire(MachineLock::Mode::Exclusive, until(), options_.onlooker);
  if (!lock) return {};
  options_.onlooker.tell_doing(fmt::format("finals of {}", contestants.size()));
  // A fresh process: other addresses, nothing left over from the search.
  Pool fresh(options_.command, 1, setup(), options_.stop, options_.onlooker);
  const uint64_t seed = seeds_();
  const bool from_memory = ir::traffic(program_).total() > static_cast<double>(options_.target.l3_bytes);
  const auto is_beyond = [&](const Timing& timing) { return beyond_roof(timing, from_memory); };
  std::vector<Timing> timings;
  // The probes are sized anew in every process: one that was disturbed may be the last.
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto answer = time(fresh, contestants, [&](const std::vector<std::string>& libraries) {
      return Finals{"problem-0",
                    kRuntime,
                    libraries,
                    seed,
                    options_.finals_rounds,
                    options_.finals_seconds,
                    seconds_to_answer(deadline_)};
    });
    if (was_cut_short(answer)) {
      if (attempt == 0) return {};
      break;  // there was time for the first one alone
    }
    timings = std::move(answer);
    if (std::none_of(timings.begin(), timings.end(), is_beyond)) break;
  }
  if (std::any_of(timings.begin(), timings.end(), is_beyond))
    for (auto& timing : timings) {
      timing.flop_fractions.clear();
      timing.bandwidth_fractions.clear();
    }
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto contestant = std::find_if(contestants.begin(), contestants.end(),
                                         [&](const std::string& other) { return is_same(ids[i], other); });
    if (contestant == contestants.end()) continue;
    const Timing& timing = timings[static_cast<size_t>(contestant - contestants.begin())];
    record_timing(result[i], timing, lock->held());
    record_intervals(result[i], timing, from_memory, seed);
    if (is_same(ids[i], ids[0])) record_default(result[i]);
  }
  return result;
}

Result<std::vector<tensor::Array>> run_once(const ir::Program& program, const codegen::Schedule& schedule,
                                            const reference::Inputs& inputs, const WorkerOptions& options) {
  TILE_TUNE_TRY(directory, SessionDirectory::create());
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, {options.stop, options.deadline}, options.onlooker);
  if (!lock) return failure("stopped", "stopped before the kernel had run");
  const std::string problem = "problem-0", library = "kernel.o";
  TILE_TUNE_CHECK(write_problem({program, inputs, {}, false, ""}, directory.path() / problem));
  Pool pool(options.command, 1, {directory.path(), options.target, options.limits}, options.stop, options.onlooker);
  for (const Request& request : std::vector<Request>{BuildRuntime{kRuntime}, Build{problem, schedule, library},
                                                     Run{problem, kRuntime, library}}) {
    const auto reply = pool.ask(request, options.deadline);
    if (!reply) return failure("stopped", "stopped before the kernel had run");
    if (reply->outcome == Outcome::NoSpace) return no_space(*reply);
    if (reply->outcome != Outcome::Ok)
      return failure(outcome_name(reply->outcome),
                     fmt::format("the kernel of {} failed: {}", program.name, reply->reason));
  }
  return read_outputs(program, directory.path() / problem);
}

}  // namespace tile_tune::search
