#include "search/workers/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include "base/process/fd.h"
#include "base/process/fork.h"
#include "base/process/lines.h"
#include "base/process/wait.h"
#include "codegen/target/host.h"
#include "search/judge/problem.h"

namespace tile_tune::search {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeptOutput = 4096;  // of what the child prints: enough for the sentence a compiler dies with

// Address space glibc may take for each thread beside its data: an arena is reserved as 128 MiB to be cut to an
// aligned 64 MiB, and a stack is 8 MiB by default.
constexpr int64_t kBytesPerThread = 136ll << 20;

// Time in which this process runs. Where it was asleep for longer than it asked for, everything was: the machine was
// suspended, or somebody stopped whatever runs on it, and no child is to blame.
class RunningClock {
 public:
  double seconds() {
    const auto now = Clock::now();
    const double step = std::chrono::duration<double>(now - last_).count();
    seconds_ += std::min(step, kLongestStep);
    last_ = now;
    return seconds_;
  }
  static constexpr double kLongestStep = 0.5;  // so often it is asked at least

 private:
  Clock::time_point last_ = Clock::now();
  double seconds_ = 0;
};

int64_t own_address_space() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

void limit_resource(int resource, int64_t value, int64_t hard_margin = 0) {
  const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value + hard_margin)};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void write_text(const char* path, const char* text) {
  const base::Fd file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.get() >= 0 && write(file.get(), text, std::strlen(text)) < 0) return;  // a preference, not a need
}

void confine(const ChildLimits& limits) {
  write_text("/proc/self/oom_score_adj", "1000");  // the first to go when the machine runs out of memory
  limit_resource(RLIMIT_CORE, 0);
  // At the hard limit comes SIGKILL, at the soft one SIGXCPU, which says why.
  limit_resource(RLIMIT_CPU, static_cast<int64_t>(std::ceil(limits.cpu_seconds)), 1);
  if (!limits.limits_addresses) return;
  limit_resource(RLIMIT_AS, own_address_space() + limits.memory_bytes + limits.threads * kBytesPerThread);
}

std::string over_limit(const ChildLimits& limits) {
  return fmt::format("it needed more memory than its limit of {:.3g} GB",
                     static_cast<double>(limits.memory_bytes) / 1e9);
}

/// The child's side; its exit code.
int work_confined(const ChildLimits& limits, int reply_fd, const std::function<Reply(int)>& work) {
  // Written down beforehand: once memory is gone nothing can be encoded any more.
  const std::string out_of_memory = encode(Reply::fault(Outcome::OutOfMemory, over_limit(limits)));
  confine(limits);
  bool written = false;
  try {
    written = base::write_line(reply_fd, encode(work(reply_fd)));
  } catch (const std::bad_alloc&) {
    written = base::write_line(reply_fd, out_of_memory);
  } catch (const std::exception& error) {
    written = base::write_line(reply_fd, encode(Reply::fault(Outcome::Crash, error.what())));
  }
  return written ? 0 : 1;
}

struct Watched {
  enum class How { Ended, TimedOut, Abandoned } how = How::Ended;
  std::optional<std::string> line;
  std::string output;
};

void keep_output(int fd, std::string& output) {
  char bytes[4096];
  for (ssize_t count; (count = read(fd, bytes, sizeof bytes)) > 0;) {
    const size_t room = kKeptOutput - std::min(kKeptOutput, output.size());
    output.append(bytes, std::min(room, static_cast<size_t>(count)));
  }
}

// Until the child has written its line or closed the pipe, time is up, or the owner is gone.
Watched watch(int reply_fd, int output_fd, int owner, RunningClock& clock, double seconds) {
  Watched watched;
  base::LineReader reader(reply_fd);
  pollfd fds[] = {{reply_fd, POLLIN, 0}, {output_fd, POLLIN, 0}, {owner, 0, 0}};
  for (;;) {
    const double left = seconds - clock.seconds();
    if (left <= 0) {
      watched.how = Watched::How::TimedOut;
      return watched;
    }
    const double step = std::min(left, RunningClock::kLongestStep / 2);
    if (poll(fds, 3, static_cast<int>(std::ceil(step * 1e3))) < 0) continue;  // EINTR
    if (fds[1].revents & POLLIN)
      keep_output(output_fd, watched.output);
    else if (fds[1].revents)
      fds[1].fd = -1;  // closed: poll would return at once for ever
    if (fds[2].revents & (POLLHUP | POLLERR | POLLNVAL)) {
      watched.how = Watched::How::Abandoned;
      return watched;
    }
    if (fds[0].revents) {
      const bool open = reader.fill();
      watched.line = reader.take();
      if (watched.line || !open) return watched;
    }
  }
}

/// The status that the child ends with, by itself or, when time is up, by us: then `how` says so.
int reap(pid_t child, RunningClock& clock, double seconds, Watched::How& how) {
  int status = 0;
  for (;;) {
    const pid_t reaped = waitpid(child, &status, WNOHANG);
    if (reaped == child || (reaped < 0 && errno != EINTR)) return status;
    if (clock.seconds() >= seconds) {
      if (how == Watched::How::Ended) how = Watched::How::TimedOut;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

std::string first_line(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

Reply judge(const Watched& watched, int status, const ChildLimits& limits) {
  if (watched.how == Watched::How::TimedOut)
    return Reply::fault(Outcome::Timeout, fmt::format("it took longer than {:g} s", limits.wall_seconds));
  if (watched.line) {
    auto reply = decode_reply(*watched.line);
    return reply ? std::move(*reply) : Reply::fault(Outcome::Crash, reply.error().message);
  }
  const std::string said = first_line(watched.output);
  const std::string detail = said.empty() ? "" : ": " + said;
  if (watched.output.find("out of memory") != std::string::npos ||
      watched.output.find("bad_alloc") != std::string::npos)
    return Reply::fault(Outcome::OutOfMemory, over_limit(limits) + detail);
  const base::Ending ending = base::ending_of(status);
  const int signal = ending.signal;
  if (signal == 0)
    return Reply::fault(Outcome::Crash, fmt::format("the process ended with exit code {}{}", ending.exit_code, detail));
  if (signal == SIGALRM || signal == SIGXCPU)
    return Reply::fault(Outcome::Timeout, "a call took longer than its limit");
  if (signal == SIGKILL)
    return Reply::fault(Outcome::OutOfMemory, "the system killed the process, which it does when memory runs out");
  return Reply::fault(Outcome::Crash, fmt::format("killed by SIG{}{}", sigabbrev_np(signal), detail));
}

}  // namespace

double call_seconds(const Limits& limits, const codegen::Target& target) {
  // PoCL takes 1 to 5 s a kernel, of which a program has as many as statements.
  constexpr double kDriverSeconds = 60;
  return limits.run_seconds + (target.device == codegen::Device::Gpu ? kDriverSeconds : 0);
}

ChildLimits limits_of_calls(const Limits& limits, const codegen::Target& target, const ir::Program& program,
                            double calls) {
  // Inputs and outputs, their initial values, outputs in C order twice, and the stream probe's.
  constexpr int64_t kBufferCopies = 6;
  // A driver has threads of its own, one a core where the device is the CPU.
  const bool is_for_device = target.device == codegen::Device::Gpu;
  const int cores = static_cast<int>(codegen::available_cores().size());
  const int threads = is_for_device ? std::max(cores, target.threads) : target.threads;
  const double seconds = calls * call_seconds(limits, target);
  return {.wall_seconds = seconds,
          .cpu_seconds = seconds * threads,
          .threads = threads,
          .memory_bytes = limits.memory_bytes + kBufferCopies * buffer_bytes(program),
          // CUDA's driver reserves addresses for all the memory there is.
          .limits_addresses = !target.features.has(codegen::Feature::Cuda)};
}

void keep_driver_cache(const codegen::Target& target, const std::filesystem::path& directory) {
  if (target.device != codegen::Device::Gpu) return;
  for (const char* name : {"POCL_CACHE_DIR", "TILE_TUNE_CUBINS"}) setenv(name, (directory / "driver-cache").c_str(), 1);
}

std::optional<Reply> run_in_child(const ChildLimits& limits, int owner, const std::function<Reply(int)>& work) {
  int reply[2], output[2];
  if (pipe2(reply, O_CLOEXEC) != 0) return Reply::fault(Outcome::Crash, "no pipe: too many open files");
  base::Fd reply_in(reply[0]), reply_out(reply[1]);
  if (pipe2(output, O_CLOEXEC) != 0) return Reply::fault(Outcome::Crash, "no pipe: too many open files");
  base::Fd output_in(output[0]), output_out(output[1]);
  fcntl(output_in.get(), F_SETFL, O_NONBLOCK);  // this end alone: the child's prints shall block when the pipe is full

  RunningClock clock;
  const base::Streams streams{.out = output_out.get(), .err = output_out.get()};
  const auto forked = base::fork_child({.streams = streams, .own_group = true, .default_signals = true},
                                       [&] { return work_confined(limits, reply_out.get(), work); });
  if (!forked) return Reply::fault(Outcome::OutOfMemory, "no process could be started: the system is out of resources");
  const pid_t child = *forked;
  reply_out.reset();
  output_out.reset();

  Watched watched = watch(reply_in.get(), output_in.get(), owner, clock, limits.wall_seconds);
  // Once its line is there a child has nothing left to do. One that closed the pipe without it is ending by itself,
  // and how it ends is what we want to know.
  if (watched.how != Watched::How::Ended || watched.line) kill(-child, SIGKILL);
  const int status = reap(child, clock, limits.wall_seconds, watched.how);
  kill(-child, SIGKILL);  // what it started and left behind
  keep_output(output_in.get(), watched.output);
  if (watched.how == Watched::How::Abandoned) return std::nullopt;
  return judge(watched, status, limits);
}

}  // namespace tile_tune::search
