#include "search/workers/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/disk_space.h"
#include "base/process/fd.h"
#include "base/process/lines.h"
#include "codegen/target/host.h"
#include "search/judge/executor_for.h"
#include "search/judge/verify.h"
#include "search/timing/race.h"
#include "search/timing/side_by_side.h"
#include "search/workers/child.h"
#include "search/workers/session_directory.h"

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A race and the finals end by themselves, and each of their calls is limited; this many calls' worth of time
// catches what does not.
constexpr double kCallsInTiming = 1000;
// The runtime takes a second or two, but without it nothing goes on.
constexpr double kRuntimeSeconds = 60;
// Compiling is limited in CPU time: a machine that is busy or was asleep for a while is not the candidate's fault. It
// may take so many times as long by the clock.
constexpr double kBuildPatience = 4;

class Worker {
 public:
  Worker(int in_fd, const codegen::Backend& backend) : in_fd_(in_fd), backend_(backend) {}

  /// nullopt: nobody waits for a reply.
  std::optional<Reply> answer(const Request& request) {
    return std::visit([this](const auto& one) { return handle(one); }, request);
  }
  const std::optional<Setup>& setup() const { return setup_; }

 private:
  std::optional<Reply> handle(const Quit&) { return std::nullopt; }

  std::optional<Reply> handle(const Setup& setup) {
    setup_ = setup;
    executor_ = executor_for(setup.target);
    keep_driver_cache(setup.target, setup.directory);
    return Reply{};
  }

  // Once, here, so that the children that compile inherit what it has made. Who only times does without.
  std::optional<Reply> warm_up() {
    if (std::exchange(is_warm_, true)) return std::nullopt;
    const auto warm = backend_.warm_up(setup_->target, setup_->directory);
    if (warm) return std::nullopt;
    if (is_disk_full_by(warm.error().message))
      return Reply::fault(Outcome::NoSpace, base::no_space_text(setup_->directory));
    return Reply::fault(Outcome::CompileError, warm.error().message);
  }

  // In a child, as kernels are: it is killed with this process when nobody waits for it any longer.
  std::optional<Reply> handle(const MakeProblem& request) {
    constexpr double kNoLimit = 1e6;  // seconds; who asked has one
    const ChildLimits limits{kNoLimit, kNoLimit, static_cast<int>(codegen::available_cores().size()),
                             static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)};
    return run_in_child(limits, in_fd_, [&](int) {
      Reply reply;
      const auto problem = make_problem(request.program, request.seed, request.written ? &*request.written : nullptr,
                                        request.whole_seconds);
      if (!problem) {
        reply.error = problem.error();
        return reply;
      }
      reply.note = problem->note;
      reply.sampled = problem->sampled;
      if (auto written = write_problem(*problem, setup_->directory / request.problem); !written)
        reply.error = written.error();
      return reply;
    });
  }

  std::optional<Reply> handle(const BuildRuntime& request) {
    const double seconds = std::max(setup_->limits.build_seconds, kRuntimeSeconds);
    return build(request.library, seconds, [&](const fs::path& object) -> Result<codegen::Compiled> {
      TILE_TUNE_CHECK(backend_.runtime(setup_->target, object));
      return codegen::Compiled{};
    });
  }

  std::optional<Reply> handle(const Build& request) {
    const auto program = program_of(request.problem);
    if (!program) return Reply::fault(Outcome::CompileError, program.error().message);
    const double seconds = request.seconds > 0 ? request.seconds : setup_->limits.build_seconds;
    return build(request.library, seconds, [&](const fs::path& object) {
      return backend_.compile(**program, request.schedule, setup_->target, kKernelFunction, object);
    });
  }

  std::optional<Reply> handle(const BuildAutoscheduled& request) {
    if (!backend_.compile_autoscheduled)
      return Reply::fault(Outcome::CompileError, "the backend has no automatic schedulers");
    const auto program = program_of(request.problem);
    if (!program) return Reply::fault(Outcome::CompileError, program.error().message);
    return build(request.library, setup_->limits.build_seconds, [&](const fs::path& object) {
      return backend_.compile_autoscheduled(**program, request.scheduler, setup_->target, kKernelFunction, object);
    });
  }

  Result<const ir::Program*> program_of(const std::string& problem) {
    auto found = programs_.find(problem);
    if (found == programs_.end()) {
      TILE_TUNE_TRY(program, read_program(setup_->directory / problem));
      found = programs_.emplace(problem, std::move(program)).first;
    }
    return &found->second;
  }

  std::optional<Reply> handle(const Verify& request) {
    return with_problem(request.problem, [&](const Problem& problem) {
      const auto judge = [&](const Runtime&, int reply_fd) {
        const auto kernel = executor_->load(setup_->directory / request.library);
        if (!kernel) return Reply::fault(Outcome::CompileError, kernel.error().message);
        return verify(*executor_, problem, **kernel, call_seconds(), reply_fd, request.hopeless_ns);
      };
      if (request.hopeless_ns > 0) return time_kernels(problem, request.runtime, judge);
      return run_kernels(problem, request.runtime, kCallsInVerify, judge);
    });
  }

  std::optional<Reply> handle(const Run& request) {
    return with_problem(request.problem, [&](const Problem& problem) {
      return run_kernels(problem, request.runtime, kCallsInVerify, [&](const Runtime&, int reply_fd) {
        const auto kernel = executor_->load(setup_->directory / request.library);
        if (!kernel) return Reply::fault(Outcome::CompileError, kernel.error().message);
        const auto memory = executor_->allocate(problem, Flush::End);
        memory->prepare_outputs(std::byte{0});
        executor_->watch_guards(memory.get(), reply_fd);
        const CallLimit limit(call_seconds());
        const auto call = executor_->bind(problem.program, **kernel, *memory, Flush::End);
        if (const int code = call->run(1).code; code != 0) return executor_->fault(code);
        if (const auto trespass = memory->trespass(); !trespass.empty()) return Reply::fault(Outcome::Wrong, trespass);
        std::vector<tensor::Array> outputs;
        for (const int output : problem.program.outputs) outputs.push_back(memory->stored_output(output));
        if (auto written = write_outputs(outputs, setup_->directory / request.problem); !written)
          return Reply::fault(written.error().code == "disk-full" ? Outcome::NoSpace : Outcome::RunError,
                              written.error().message);
        return Reply{};
      });
    });
  }

  std::optional<Reply> handle(const Race& request) {
    const Deadline deadline = deadline_of(request.at_most);
    return with_problem(request.problem, [&](const Problem& problem) {
      return time_kernels(problem, request.runtime, [&](const Runtime&, int reply_fd) {
        return race(*executor_, problem, paths(request.libraries), request, deadline, call_seconds(), reply_fd);
      });
    });
  }

  std::optional<Reply> handle(const Finals& request) {
    const Deadline deadline = deadline_of(request.at_most);
    return with_problem(request.problem, [&](const Problem& problem) {
      return time_kernels(problem, request.runtime, [&](const Runtime& runtime, int reply_fd) {
        return finals(*executor_, problem, paths(request.libraries), request, deadline,
                      is_for_device() ? nullptr : &runtime, call_seconds(), reply_fd);
      });
    });
  }

  std::optional<Reply> handle(const SideBySide& request) {
    return with_problem(request.problem, [&](const Problem& problem) {
      return time_kernels(problem, request.runtime, [&](const Runtime& runtime, int reply_fd) {
        return side_by_side(*executor_, problem, paths(request.libraries), request, runtime, call_seconds(), reply_fd);
      });
    });
  }

  bool is_for_device() const { return setup_->target.device == codegen::Device::Gpu; }
  double call_seconds() const { return search::call_seconds(setup_->limits, setup_->target); }

  static Deadline deadline_of(double at_most) { return at_most > 0 ? Deadline::after(at_most) : Deadline(); }

  std::vector<fs::path> paths(const std::vector<std::string>& libraries) const {
    std::vector<fs::path> result;
    for (const auto& library : libraries) result.push_back(setup_->directory / library);
    return result;
  }

  // Compiles with `compile` into a file beside the one that is asked for, in a child.
  template <typename Compile>
  std::optional<Reply> build(const std::string& name, double seconds, Compile compile) {
    if (auto fault = warm_up()) return fault;
    const fs::path library = setup_->directory / name;
    const fs::path object = library.string() + ".part";
    const ChildLimits limits{kBuildPatience * seconds, seconds, 1, setup_->limits.memory_bytes};
    auto reply = run_in_child(limits, in_fd_, [&](int) {
      const auto start = Clock::now();
      const auto compiled = compile(object);
      if (!compiled) return Reply::fault(Outcome::CompileError, compiled.error().message);
      std::error_code error;
      fs::rename(object, library, error);
      if (error) return Reply::fault(Outcome::CompileError, error.message());
      Reply built;
      built.code_hash = compiled->code_hash;
      built.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      return built;
    });
    const bool disk_full = reply && reply->outcome != Outcome::Ok && is_disk_full_by(reply->reason);
    std::error_code ignored;
    fs::remove(object, ignored);
    if (disk_full) {
      reply->outcome = Outcome::NoSpace;
      reply->reason = base::no_space_text(setup_->directory);
    } else if (reply && reply->outcome == Outcome::Timeout) {
      reply->reason = fmt::format("compiling took longer than {:g} s", seconds);
    } else if (reply && reply->outcome == Outcome::Crash) {
      reply->outcome = Outcome::CompileError;
      reply->reason = kCompilerDied + reply->reason;
    }
    return reply;
  }

  // The compiler dies of a full disk with a sentence of its own or the system's.
  bool is_disk_full_by(const std::string& reason) const {
    return reason.find(std::strerror(ENOSPC)) != std::string::npos || base::is_disk_full(setup_->directory);
  }

  template <typename Work>
  std::optional<Reply> run_kernels(const Problem& problem, const std::string& runtime, double calls, Work work) {
    const auto limits = limits_of_calls(setup_->limits, setup_->target, problem.program, calls);
    return run_in_child(limits, in_fd_, [&](int reply_fd) {
      const auto loaded = Runtime::load(setup_->directory / runtime, setup_->target.threads);
      if (!loaded) return Reply::fault(Outcome::CompileError, loaded.error().message);
      return work(*loaded, reply_fd);
    });
  }

  template <typename Work>
  std::optional<Reply> time_kernels(const Problem& problem, const std::string& runtime, Work work) {
    return run_kernels(problem, runtime, kCallsInTiming, [&](const Runtime& loaded, int reply_fd) {
      if (!is_for_device()) loaded.pin_threads();  // a driver's threads would keep to the core of who starts them
      return work(loaded, reply_fd);
    });
  }

  template <typename Use>
  std::optional<Reply> with_problem(const std::string& name, Use use) {
    auto found = problems_.find(name);
    if (found == problems_.end()) {
      auto problem = read_problem(setup_->directory / name);
      if (!problem) return Reply::fault(Outcome::RunError, problem.error().message);
      found = problems_.emplace(name, std::move(*problem)).first;
    }
    return use(found->second);
  }

  int in_fd_;
  const codegen::Backend& backend_;
  std::unique_ptr<Executor> executor_;
  std::optional<Setup> setup_;
  bool is_warm_ = false;
  std::map<std::string, ir::Program> programs_;  // for building
  std::map<std::string, Problem> problems_;      // for running: children inherit the arrays
};

}  // namespace

int worker_main(int in_fd, int out_fd, const codegen::Backend& backend) {
  signal(SIGPIPE, SIG_IGN);
  // What a library prints must not get between the replies.
  base::Fd replies(fcntl(out_fd, F_DUPFD_CLOEXEC, 3));
  if (out_fd == STDOUT_FILENO) dup2(STDERR_FILENO, STDOUT_FILENO);
  Worker worker(in_fd, backend);
  base::LineReader requests(in_fd);
  while (const auto line = requests.next()) {
    const auto request = decode_request(*line);
    if (request && std::holds_alternative<Quit>(*request)) return 0;
    if (!request || (!worker.setup() && !std::holds_alternative<Setup>(*request))) {
      const std::string reason = request ? "a worker was asked before it was set up" : request.error().message;
      base::write_line(replies.get(), encode(Reply::fault(Outcome::RunError, reason)));
      return 1;
    }
    const auto reply = worker.answer(*request);
    if (!reply || !base::write_line(replies.get(), encode(*reply))) break;
  }
  if (worker.setup()) remove_abandoned_session(worker.setup()->directory);
  return 0;
}

}  // namespace tile_tune::search
