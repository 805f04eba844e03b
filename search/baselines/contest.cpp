#include "search/baselines/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/disk_space.h"
#include "codegen/target/host.h"
#include "search/baselines/compile_baseline.h"
#include "search/baselines/instruction_bound.h"
#include "search/judge/problem.h"
#include "search/timing/timing.h"
#include "search/workers/session_directory.h"

namespace tile_tune::search {
namespace {

// Adams2019 keeps many pipelines in memory, and on a grouped convolution (five loops to tile) 4 GiB and a minute of a
// busy core of Zen 5 were not enough.
constexpr double kAutoscheduleSeconds = 300;
constexpr int64_t kAutoscheduleBytes = 16ll << 30;

tl::unexpected<Diagnostic> stopped() { return failure("stopped", "stopped before everything was timed"); }

void record(Entry& entry, const Reply& reply) {
  entry.outcome = reply.outcome;
  entry.reason = reply.reason;
}

void record(Entry& entry, Timing&& timing) {
  entry.outcome = timing.outcome;
  entry.reason = timing.reason;
  entry.note = std::move(timing.note);
  entry.launch_ns = timing.launch_ns;
  entry.disturbed = is_disturbed(timing);
  entry.samples_ns = std::move(timing.samples_ns);
  entry.flop_fractions = std::move(timing.flop_fractions);
  entry.bandwidth_fractions = std::move(timing.bandwidth_fractions);
}

}  // namespace

bool Entry::is_absent() const {
  const bool failed = outcome == Outcome::CompileError || outcome == Outcome::RunError;
  return baseline && failed && reason.ends_with(" is not installed");
}

Setup Contest::setup() const {
  Limits limits;
  limits.build_seconds = 60;
  limits.run_seconds = 60;  // a first call tries several ways
  return {directory_.path(), options_.target, limits};
}

Result<std::unique_ptr<Contest>> Contest::start(ContestOptions options) {
  TILE_TUNE_TRY(directory, SessionDirectory::create());
  std::unique_ptr<Contest> contest(new Contest(std::move(options), std::move(directory)));
  const auto& own = contest->options_;
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, {own.stop}, own.onlooker);
  Pool pool(contest->options_.command, 1, contest->setup(), contest->options_.stop, contest->options_.onlooker);
  const auto reply = pool.ask(BuildRuntime{kRuntime});
  if (!reply) return stopped();
  if (reply->outcome == Outcome::NoSpace) return failure("disk-full", reply->reason, base::kNoSpaceNote);
  if (reply->outcome != Outcome::Ok)
    return failure("runtime-not-built", fmt::format("cannot build kernels on this machine: {}", reply->reason));
  return contest;
}

Result<void> Contest::build_schedules(Pool& pool, const std::vector<NamedSchedule>& schedules, Match& match) {
  for (const auto& [name, schedule, packed] : schedules) {
    const std::string program = packed ? packed_problem(match.problem) : match.problem;
    match.libraries.push_back(fmt::format("{}-{}.o", match.problem, name));
    options_.onlooker.tell_doing("compiling " + name);
    const auto reply = pool.ask(Build{program, schedule, match.libraries.back()});
    if (!reply) return stopped();
    match.entries.emplace_back();
    match.entries.back().name = name;
    record(match.entries.back(), *reply);
  }
  return {};
}

Result<void> Contest::build_autoscheduled(const std::vector<std::string>& schedulers, Match& match) {
  if (schedulers.empty()) return {};
  Setup patient = setup();
  patient.limits.build_seconds = kAutoscheduleSeconds;
  patient.limits.memory_bytes = kAutoscheduleBytes;
  Pool pool(options_.command, static_cast<int>(codegen::available_cores().size()), patient, options_.stop,
            options_.onlooker);
  std::vector<Request> requests;
  const size_t first = match.entries.size();
  for (const auto& scheduler : schedulers) {
    match.entries.emplace_back();
    match.entries.back().name = scheduler;
    match.entries.back().is_autoscheduled = true;
    match.libraries.push_back(fmt::format("{}-{}.o", match.problem, scheduler));
    requests.push_back(BuildAutoscheduled{match.problem, scheduler, match.libraries.back()});
  }
  options_.onlooker.tell_doing("compiling what automatic schedulers make");
  const auto replies = pool.ask(requests);
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i]) return stopped();
    record(match.entries[first + i], *replies[i]);
  }
  return {};
}

void Contest::build_baselines(const ir::Program& program, const std::vector<Baseline>& against,
                              const std::set<int>& constants, Match& match) {
  const size_t first = match.entries.size();
  std::vector<BaselineJob> work;
  for (const Baseline baseline : against) {
    auto source = baseline_source(baseline, program, constants, options_.target.threads, options_.fetched);
    if (!source) continue;
    match.entries.emplace_back();
    match.entries.back().name = baseline_name(baseline);
    match.entries.back().baseline = baseline;
    match.libraries.push_back(fmt::format("{}-{}.so", match.problem, baseline_name(baseline)));
    work.push_back({baseline, std::move(*source), match.libraries.back()});
  }
  const auto host = codegen::resolve_target("host", options_.target.threads);
  const auto& machine = host ? *host : options_.target;
  const auto faults =
      compile_baselines(work, directory_.path(),
                        {.instructions = instruction_flags(options_.target, machine),
                         .machine = fmt::format("{} {}", machine.text(), machine.cpu_model),
                         .jobs = static_cast<int>(codegen::available_cores().size()),
                         .stop = options_.stop,
                         .progress = [this](size_t done, size_t all) {
                           options_.onlooker.tell_doing(fmt::format("compiling baselines, {} of {}", done, all));
                         }});
  for (size_t i = 0; i < work.size(); ++i) {
    if (faults[i].empty()) continue;
    match.entries[first + i].outcome = Outcome::CompileError;
    match.entries[first + i].reason = faults[i];
  }
}

Result<void> Contest::verify(Pool& pool, Match& match) {
  for (size_t i = 0; i < match.entries.size(); ++i) {
    Entry& entry = match.entries[i];
    if (entry.outcome != Outcome::Ok) continue;
    options_.onlooker.tell_doing("verifying " + entry.name);
    const auto reply = pool.ask(Verify{match.problem, kRuntime, match.libraries[i]});
    if (!reply) return stopped();
    record(entry, *reply);
    if (entry.is_absent()) entry.reason = entry.name + " is not installed";  // without the error code of its call
    entry.verify_error = reply->verify_error;
  }
  return {};
}

// In a fresh process: nothing is left over from the verification.
std::optional<Reply> Contest::time(const std::vector<size_t>& who, const Match& match) {
  SideBySide request;
  request.problem = match.problem;
  request.runtime = kRuntime;
  for (const size_t i : who) request.libraries.push_back(match.libraries[i]);
  request.exempt =
      static_cast<int>(std::count_if(who.begin(), who.end(), [&](size_t i) { return match.entries[i].is_own(); }));
  request.seed = options_.seed;
  request.rounds = options_.rounds;
  request.seconds = options_.seconds;
  Pool fresh(options_.command, 1, setup(), options_.stop, options_.onlooker);
  if (options_.target.device == codegen::Device::Cpu) return fresh.ask(request);
  // No library's threads are there that would need places of their own.
  Finals rounds;
  rounds.problem = request.problem;
  rounds.runtime = request.runtime;
  rounds.libraries = request.libraries;
  rounds.seed = request.seed;
  rounds.rounds = request.rounds;
  rounds.seconds = request.seconds;
  return fresh.ask(rounds);
}

// Whether nothing else of ours ran meanwhile.
Result<bool> Contest::time(Match& match, std::string& condition) {
  const auto lock = MachineLock::acquire(MachineLock::Mode::Exclusive, {options_.stop}, options_.onlooker);
  if (!lock) return stopped();
  std::vector<size_t> who;
  for (size_t i = 0; i < match.entries.size(); ++i)
    if (match.entries[i].outcome == Outcome::Ok) who.push_back(i);
  if (who.empty()) return lock->held();
  options_.onlooker.tell_doing(fmt::format("timing {}", who.size()));
  auto reply = time(who, match);
  if (!reply) return stopped();
  if (reply->outcome != Outcome::Ok) {
    // Somebody takes the process down: each alone tells who, and the others run again.
    std::vector<size_t> sound;
    for (const size_t i : who) {
      const auto alone = time({i}, match);
      if (!alone) return stopped();
      if (alone->outcome == Outcome::Ok)
        sound.push_back(i);
      else
        record(match.entries[i], *alone);
    }
    who = std::move(sound);
    if (who.empty()) return lock->held();
    reply = time(who, match);
    if (!reply) return stopped();
  }
  condition = reply->note;
  for (size_t k = 0; k < who.size(); ++k) {
    if (reply->outcome == Outcome::Ok && k < reply->timings.size())
      record(match.entries[who[k]], std::move(reply->timings[k]));
    else
      record(match.entries[who[k]], *reply);
  }
  return lock->held();
}

Result<ContestResult> Contest::run(const ir::Program& program, const std::vector<NamedSchedule>& schedules,
                                   const std::vector<Baseline>& against, const std::set<int>& constants,
                                   const std::vector<std::string>& autoschedulers) {
  ContestResult result;
  Match match;
  match.problem = fmt::format("problem-{}", problems_++);
  {
    const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, {options_.stop}, options_.onlooker);
    if (!lock) return stopped();
    options_.onlooker.tell_doing("computing the reference");
    TILE_TUNE_TRY(problem, make_problem(program, options_.seed));
    // Libraries pad with zeros and multiply by them, which gives NaN where an infinity is padded.
    problem.special.clear();
    TILE_TUNE_CHECK(write_problem(problem, directory_.path() / match.problem));
    ir::Program packed = program;
    for (const int constant : constants) packed.tensors[constant].constant = true;
    TILE_TUNE_CHECK(write_problem({packed, {}, {}, false, ""}, directory_.path() / packed_problem(match.problem)));
    result.sampled = problem.sampled;
    Pool pool(options_.command, 1, setup(), options_.stop, options_.onlooker);
    TILE_TUNE_CHECK(build_schedules(pool, schedules, match));
    TILE_TUNE_CHECK(build_autoscheduled(autoschedulers, match));
    build_baselines(program, against, constants, match);
    TILE_TUNE_CHECK(verify(pool, match));
  }
  TILE_TUNE_TRY(alone, time(match, result.condition));
  result.alone = alone;
  result.entries = std::move(match.entries);
  std::error_code ignored;
  std::filesystem::remove_all(directory_.path() / match.problem, ignored);
  std::filesystem::remove_all(directory_.path() / packed_problem(match.problem), ignored);
  for (const auto& library : match.libraries) std::filesystem::remove(directory_.path() / library, ignored);
  return result;
}

int best_baseline(const std::vector<Entry>& entries) {
  int best = -1;
  bool is_library = false;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    if (!entry.baseline || kind_of(*entry.baseline).is_packed || !entry.ran()) continue;
    const bool library = *entry.baseline != Baseline::OpenMp;
    if (best >= 0 && is_library && !library) continue;
    const bool faster = best < 0 || median(entry.samples_ns) < median(entries[best].samples_ns);
    if (faster || (library && !is_library)) {
      best = static_cast<int>(i);
      is_library = library;
    }
  }
  return best;
}

int best_autoscheduled(const std::vector<Entry>& entries) {
  int best = -1;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_autoscheduled || !entries[i].ran()) continue;
    if (best < 0 || median(entries[i].samples_ns) < median(entries[static_cast<size_t>(best)].samples_ns))
      best = static_cast<int>(i);
  }
  return best;
}

int best_packed_baseline(const std::vector<Entry>& entries) {
  int best = -1;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].baseline || !kind_of(*entries[i].baseline).is_packed || !entries[i].ran()) continue;
    if (best < 0 || median(entries[i].samples_ns) < median(entries[best].samples_ns)) best = static_cast<int>(i);
  }
  return best >= 0 ? best : best_baseline(entries);
}

std::optional<Ratio> speed_ratio(const Entry& one, const Entry& other, uint64_t seed) {
  if (!one.ran() || !other.ran() || one.samples_ns.size() != other.samples_ns.size()) return std::nullopt;
  std::vector<double> logs;
  for (size_t round = 0; round < one.samples_ns.size(); ++round)
    logs.push_back(std::log(other.samples_ns[round] / one.samples_ns[round]));
  const Interval interval = bootstrap_median(logs, seed);
  return Ratio{std::exp(median(logs)), {std::exp(interval.lo), std::exp(interval.hi)}};
}

}  // namespace tile_tune::search
