#include "search/judge/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <memory>

namespace tile_tune::search {
namespace {

// Outputs hold one pattern before the first run and the other before the second: an element that shows both was
// never written. The first is a NaN in every float type, the second a number (1.5e16 in f32) no kernel is near.
constexpr std::byte kPatterns[] = {std::byte{0xFF}, std::byte{0x5A}};

constexpr int kTicks = 8;
volatile sig_atomic_t ticks_left = 0;

void on_tick(int signal) {
  ticks_left = ticks_left - 1;
  if (ticks_left > 0) return;
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::string subscripts_text(const ir::Tensor& tensor, int64_t element) {
  std::vector<int64_t> subscripts(tensor.extents.size());
  const auto extents = ir::shape(tensor);
  for (size_t d = extents.size(); d-- > 0;) {
    subscripts[d] = element % extents[d];
    element /= extents[d];
  }
  return subscripts.empty() ? "" : fmt::format("[{}]", fmt::join(subscripts, ", "));
}

std::string mismatch_text(const ir::Program& program, const reference::Expected& expected,
                          const reference::Mismatch& mismatch) {
  const auto& tensor = program.tensors[mismatch.tensor];
  return fmt::format("{}{} is {:.9g}, expected {:.9g} within {:.3g}; {} of {} elements checked differ", tensor.name,
                     subscripts_text(tensor, mismatch.element), mismatch.got, mismatch.expected, mismatch.tolerance,
                     mismatch.count, expected.elements.size());
}

// The first element that holds kPatterns[0] in `first` and kPatterns[1] in `second`, or -1.
int64_t unwritten_element(const tensor::Array& first, const tensor::Array& second) {
  const size_t size = dtype_size(first.type);
  const auto holds = [size](const std::byte* element, std::byte pattern) {
    return std::all_of(element, element + size, [pattern](std::byte byte) { return byte == pattern; });
  };
  for (size_t at = 0; at < first.data.size(); at += size)
    if (holds(&first.data[at], kPatterns[0]) && holds(&second.data[at], kPatterns[1]))
      return static_cast<int64_t>(at / size);
  return -1;
}

}  // namespace

CallLimit::CallLimit(double seconds) {
  ticks_left = kTicks;
  struct sigaction action {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const double tick = seconds / kTicks;
  const auto whole = static_cast<time_t>(tick);
  const auto micros = static_cast<suseconds_t>((tick - static_cast<double>(whole)) * 1e6);
  const timeval every{whole, whole == 0 ? std::max<suseconds_t>(1, micros) : micros};
  const itimerval limit{every, every};
  setitimer(ITIMER_REAL, &limit, nullptr);
}

CallLimit::~CallLimit() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

Reply compare_outputs(const Problem& problem, const Memory& memory) {
  Reply reply;
  for (const auto& expected : problem.expected) {
    const auto verdict = reference::compare(expected, memory.output(expected.tensor));
    reply.verify_error = std::max(reply.verify_error, verdict.worst);
    if (!verdict.mismatch) continue;
    reply.outcome = Outcome::Wrong;
    if (reply.reason.empty()) reply.reason = mismatch_text(problem.program, expected, *verdict.mismatch);
  }
  return reply;
}

namespace {

/// Runs a kernel again and again for one verdict.
struct Judgement {
  const Executor& executor;
  const PreparedKernel& kernel;
  double call_seconds;
  int reply_fd;
  double ns = 0;  // of the last run

  /// One run on memory whose outputs hold `pattern`, compared with what is expected.
  Reply run(const Problem& problem, Memory& memory, Flush flush, std::byte pattern) {
    executor.watch_guards(&memory, reply_fd);
    memory.prepare_outputs(pattern);
    const auto call = executor.bind(problem.program, kernel, memory, flush);
    const int code = [&] {
      const CallLimit limit(call_seconds);
      const Timed timed = call->run(1);
      ns = timed.ns;
      return timed.code;
    }();
    executor.watch_guards(nullptr, reply_fd);
    if (code != 0) return executor.fault(code);
    for (const auto& trespass : {memory.trespass(), call->trespass()})
      if (!trespass.empty()) return Reply::fault(Outcome::Wrong, trespass);
    return compare_outputs(problem, memory);
  }

  /// On zeros, infinities, NaN and subnormal numbers.
  Reply run_special(const Problem& special) {
    const auto memory = executor.allocate(special, Flush::End);
    Reply reply = run(special, *memory, Flush::End, kPatterns[0]);
    if (reply.outcome == Outcome::Wrong)
      reply.reason += ", where inputs hold zeros, infinities, NaN or subnormal numbers";
    return reply;
  }
};

}  // namespace

Reply verify(const Executor& executor, const Problem& problem, const PreparedKernel& kernel, double call_seconds,
             int reply_fd, double hopeless_ns) {
  // Nobody waits for one that is twice as slow as what is hopeless, nor for less than a tick of the clock.
  constexpr double kPatience = 2, kLeastSeconds = 0.05;
  if (executor.first_call_loads()) hopeless_ns = 0;
  if (hopeless_ns > 0) call_seconds = std::min(call_seconds, kPatience * hopeless_ns * 1e-9 + kLeastSeconds);
  Judgement judgement{executor, kernel, call_seconds, reply_fd};
  Reply worst;
  std::vector<tensor::Array> first_outputs;
  std::unique_ptr<Memory> memory;
  for (const Flush flush : {Flush::End, Flush::Begin}) {
    const bool first = flush == Flush::End;
    // To make buffers of 270 MB takes as long as a kernel of 17 GFLOP.
    if (first || !memory->fill_pages()) {
      memory.reset();
      memory = executor.allocate(problem, flush);
    }
    Reply reply = judgement.run(problem, *memory, flush, kPatterns[first ? 0 : 1]);
    if (reply.outcome != Outcome::Ok) return reply;
    worst.verify_error = std::max(worst.verify_error, reply.verify_error);
    if (hopeless_ns > 0 && judgement.ns > hopeless_ns) {
      worst.outcome = Outcome::Slow;
      worst.timings.emplace_back().samples_ns = {judgement.ns};
    }
    if (hopeless_ns > 0) return worst;
    for (size_t i = 0; i < problem.program.outputs.size(); ++i) {
      const int output = problem.program.outputs[i];
      auto values = memory->output(output);
      if (first) {
        first_outputs.push_back(std::move(values));
      } else if (const int64_t element = unwritten_element(first_outputs[i], values); element >= 0) {
        const auto& tensor = problem.program.tensors[output];
        return Reply::fault(Outcome::Wrong,
                            fmt::format("{}{} was never written", tensor.name, subscripts_text(tensor, element)));
      }
    }
  }
  for (const auto& special : problem.special)
    if (Reply reply = judgement.run_special(special); reply.outcome != Outcome::Ok) return reply;
  return worst;
}

}  // namespace tile_tune::search
