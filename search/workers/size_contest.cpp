#include "search/workers/size_contest.h"

#include <fmt/format.h>

#include "base/disk_space.h"
#include "codegen/target/host.h"
#include "search/judge/problem.h"

namespace tile_tune::search {
namespace {

std::string library_of(size_t kernel) { return fmt::format("kernel-{}.o", kernel); }

tl::unexpected<Diagnostic> stopped() { return failure("stopped", "stopped before kernels were timed"); }

Timing fault(const Reply& reply) {
  Timing timing;
  timing.outcome = reply.outcome;
  timing.reason = reply.reason;
  return timing;
}

}  // namespace

SizeContest::SizeContest(SizeContestOptions options, SessionDirectory directory)
    : options_(std::move(options)),
      directory_(std::move(directory)),
      pool_(options_.command, static_cast<int>(codegen::available_cores().size()),
            {directory_.path(), options_.target, {}}, options_.until.stop, options_.onlooker) {}

Result<std::unique_ptr<SizeContest>> SizeContest::start(SizeContestOptions options) {
  TILE_TUNE_TRY(directory, SessionDirectory::create());
  std::unique_ptr<SizeContest> contest(new SizeContest(std::move(options), std::move(directory)));
  const auto& own = contest->options_;
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, own.until, own.onlooker);
  const auto runtime = contest->pool_.ask(BuildRuntime{kRuntime}, contest->options_.until.deadline);
  if (!runtime) return stopped();
  if (runtime->outcome != Outcome::Ok)
    return failure("runtime-not-built", fmt::format("cannot build kernels on this machine: {}", runtime->reason));
  return contest;
}

Result<std::vector<size_t>> SizeContest::build(const std::vector<Source>& sources) {
  const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, options_.until, options_.onlooker);
  std::vector<Request> requests;
  std::vector<size_t> numbers;
  for (const auto& source : sources) {
    const std::string problem = fmt::format("problem-{}", problems_++);
    TILE_TUNE_CHECK(write_problem({source.program, {}, {}, false, ""}, directory_.path() / problem));
    numbers.push_back(built_.size() + requests.size());
    requests.push_back(Build{problem, source.schedule, library_of(numbers.back())});
  }
  for (auto& reply : pool_.ask(requests, options_.until.deadline)) {
    if (!reply) return stopped();
    if (reply->outcome == Outcome::NoSpace) return failure("disk-full", reply->reason, base::kNoSpaceNote);
    built_.push_back(std::move(*reply));
  }
  return numbers;
}

Result<std::vector<Timing>> SizeContest::time(const ir::Program& program, const std::vector<size_t>& kernels) {
  const std::string name = fmt::format("problem-{}", problems_++);
  const Deadline deadline = options_.until.deadline;
  std::vector<Timing> timings(kernels.size());
  std::vector<size_t> places;  // of those that are raced
  std::vector<std::string> libraries;
  {
    const auto lock = MachineLock::acquire(MachineLock::Mode::Shared, options_.until, options_.onlooker);
    const auto made = pool_.ask(MakeProblem{name, program, options_.seed, std::nullopt, kWholeSeconds}, deadline);
    if (!made) return stopped();
    if (made->error) return tl::unexpected(*made->error);
    if (made->outcome != Outcome::Ok) return failure("reference-failed", made->reason);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Reply& built = built_[kernels[i]];
      if (built.outcome != Outcome::Ok) {
        timings[i] = fault(built);
        continue;
      }
      const auto reply = pool_.ask(Verify{name, kRuntime, library_of(kernels[i])}, deadline);
      if (!reply) return stopped();
      timings[i] = fault(*reply);
      if (reply->outcome != Outcome::Ok) continue;
      places.push_back(i);
      libraries.push_back(library_of(kernels[i]));
    }
  }
  // Nothing to be compared with.
  if (places.empty() || places.front() != 0) return timings;
  const auto lock = MachineLock::acquire(MachineLock::Mode::Exclusive, options_.until, options_.onlooker);
  if (!lock) return stopped();
  const auto reply = pool_.ask(Race{name, kRuntime, libraries, 1, options_.seed}, deadline);
  if (!reply) return stopped();
  for (size_t n = 0; n < places.size(); ++n) {
    if (reply->outcome != Outcome::Ok || n >= reply->timings.size())
      timings[places[n]] = fault(*reply);
    else
      timings[places[n]] = reply->timings[n];
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_.path() / name, ignored);
  return timings;
}

}  // namespace tile_tune::search
