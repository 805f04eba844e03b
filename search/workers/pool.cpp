#include "search/workers/pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <thread>

#include "base/process/fd.h"
#include "base/process/lines.h"
#include "base/process/spawn.h"
#include "base/process/wait.h"

namespace tile_tune::search {
namespace {

constexpr int kStopCheckMs = 50;  // how late a set stop flag may be noticed
constexpr int kAttempts = 2;      // for a request whose worker died

// A worker that was asked to end has nothing left to do but to let go of its memory.
constexpr double kEndSeconds = 1;

// One that a signal stopped has so long to go on; that it waits is told of from the second look on.
constexpr double kStoppedSeconds = 10, kLookSeconds = 0.5;

void reap_or_kill(pid_t pid, Deadline deadline) {
  while (!deadline.passed()) {
    const pid_t reaped = waitpid(pid, nullptr, WNOHANG);
    if (reaped == pid || (reaped < 0 && errno != EINTR)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(pid, SIGKILL);
  base::wait_for(pid);
}

// By a signal, or by a debugger.
bool is_stopped(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(") ");  // the name before it may hold anything
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state == 'T' || state == 't';
}

}  // namespace

struct Pool::Round {
  const std::vector<Request>& requests;
  std::vector<std::optional<Reply>> replies;
  std::vector<int> attempts;
  std::deque<int> waiting;
  size_t answered = 0;
  double look_at = now_seconds() + kLookSeconds;  // when to look next for processes that were stopped

  explicit Round(const std::vector<Request>& all) : requests(all), replies(all.size()), attempts(all.size(), 0) {
    for (size_t i = 0; i < all.size(); ++i) waiting.push_back(static_cast<int>(i));
  }
  void answer(int request, Reply reply) {
    replies[request] = std::move(reply);
    ++answered;
  }
  bool done() const { return answered == requests.size(); }
};

Pool::Pool(std::vector<std::string> command, int size, Setup setup, const std::atomic<bool>* stop, Onlooker onlooker)
    : command_(std::move(command)),
      setup_(std::move(setup)),
      stop_(stop),
      onlooker_(std::move(onlooker)),
      processes_(static_cast<size_t>(size)) {}

// Idle workers are told before the first is waited for, so that all together take no longer than one.
Pool::~Pool() {
  const auto is_idle = [](const Process& process) { return process.ready && process.request < 0; };
  for (auto& process : processes_)
    if (process.pid >= 0 && is_idle(process)) base::write_line(process.socket.get(), encode(Request(Quit{})));
  for (auto& process : processes_) end(process, !is_idle(process));
}

Result<void> Pool::start(Process& process) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return failure("worker-not-started", fmt::format("cannot start a worker: {}", std::strerror(errno)));
  process.socket = base::Fd(sockets[0]);
  const base::Fd theirs(sockets[1]);
  const auto child = base::spawn({.words = command_, .own_group = true, .default_signals = true},
                                 {.in = theirs.get(), .out = theirs.get()});
  if (!child)
    return failure("worker-not-started",
                   fmt::format("cannot start a worker ({}): {}", command_[0], std::strerror(child.error())));
  process.pid = *child;
  process.replies.emplace(process.socket.get());
  process.ready = false;
  process.request = -1;
  process.stopped_at = 0;
  base::write_line(process.socket.get(), encode(Request(setup_)));
  return {};
}

void Pool::end(Process& process, bool kill_it) {
  if (process.pid < 0) return;
  // Not the group: the child a worker forks has its own, and dies with the worker.
  if (kill_it) kill(process.pid, SIGKILL);
  process.socket.reset();
  reap_or_kill(process.pid, Deadline::after(kEndSeconds));
  process = Process{};
}

void Pool::lose(Process& process, Round& round, const std::string& reason, Outcome outcome) {
  const int request = process.request;
  const bool was_ready = process.ready;
  end(process, true);
  if (request >= 0) {
    if (++round.attempts[request] < kAttempts)
      round.waiting.push_front(request);
    else
      round.answer(request, Reply::fault(outcome, reason));
  } else if (!was_ready && !round.waiting.empty()) {
    // It died of the set-up itself, which the next one will do as well: a request pays for each attempt, so this ends.
    const int next = round.waiting.front();
    if (++round.attempts[next] < kAttempts) return;
    round.waiting.pop_front();
    round.answer(next, Reply::fault(outcome, reason));
  }
}

void Pool::assign(Process& process, Round& round) {
  if (process.request >= 0 || round.waiting.empty()) return;
  if (process.pid < 0) {
    if (auto started = start(process); !started) {
      round.answer(round.waiting.front(), Reply::fault(Outcome::Crash, started.error().message));
      round.waiting.pop_front();
    }
    return;
  }
  if (!process.ready) return;
  process.request = round.waiting.front();
  round.waiting.pop_front();
  if (!base::write_line(process.socket.get(), encode(round.requests[process.request])))
    lose(process, round, "the worker process died");
}

void Pool::take_replies(Process& process, Round& round) {
  if (!process.replies->fill()) return lose(process, round, "the worker process died");
  while (process.pid >= 0) {
    const auto line = process.replies->take();
    if (!line) return;
    auto reply = decode_reply(*line);
    if (!reply) return lose(process, round, reply.error().message);
    if (!process.ready) {
      // A full disk is no fault of the candidates: whoever asked has to see it.
      if (reply->outcome != Outcome::Ok)
        return lose(process, round, reply->reason,
                    reply->outcome == Outcome::NoSpace ? Outcome::NoSpace : Outcome::Crash);
      process.ready = true;
    } else if (process.request >= 0) {
      round.answer(std::exchange(process.request, -1), std::move(*reply));
    }
  }
}

void Pool::wait_for_replies(Round& round) {
  std::vector<pollfd> fds;
  std::vector<Process*> polled;
  for (auto& process : processes_) {
    if (process.pid < 0) continue;
    fds.push_back({process.socket.get(), POLLIN, 0});
    polled.push_back(&process);
  }
  if (poll(fds.data(), fds.size(), kStopCheckMs) <= 0) return;  // EINTR: look at the stop flag
  for (size_t i = 0; i < fds.size(); ++i)
    if (fds[i].revents) take_replies(*polled[i], round);
}

void Pool::look_for_stopped(Round& round) {
  const double now = now_seconds();
  if (now < round.look_at) return;
  round.look_at = now + kLookSeconds;
  for (auto& process : processes_) {
    if (process.pid < 0) continue;
    if (!is_stopped(process.pid)) {
      process.stopped_at = 0;
      continue;
    }
    if (process.stopped_at == 0) {
      process.stopped_at = now;
      continue;
    }
    const double seconds = now - process.stopped_at;
    if (seconds < kStoppedSeconds) {
      onlooker_.tell_waiting(fmt::format("waiting {:.0f} s for worker process {}, which somebody stopped",
                                         std::ceil(seconds), process.pid));
      continue;
    }
    onlooker_.warn(fmt::format("worker process {} was stopped for {:.0f} s, and is replaced", process.pid, seconds));
    lose(process, round, "its worker process was stopped", Outcome::Timeout);
  }
}

std::vector<std::optional<Reply>> Pool::ask(const std::vector<Request>& requests, Deadline deadline,
                                            const OnAnswer& on_answer) {
  Round round(requests);
  const Until until{stop_, deadline};
  while (!round.done() && !until.over()) {
    const size_t before = round.answered;
    size_t useful = requests.size() - round.answered;  // no more processes than there is work for
    for (auto& process : processes_) {
      if (useful == 0) break;
      assign(process, round);
      --useful;
    }
    if (!round.done()) wait_for_replies(round);
    look_for_stopped(round);
    if (on_answer && round.answered > before) on_answer(round.answered);
  }
  for (auto& process : processes_)
    if (process.request >= 0) end(process, true);
  return std::move(round.replies);
}

}  // namespace tile_tune::search
