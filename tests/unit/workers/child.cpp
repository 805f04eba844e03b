#include "search/workers/child.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <ctime>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "search/judge/verify.h"
#include "search/timing/deadline.h"

using namespace tile_tune::search;

namespace {

struct Owner {
  Owner() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
  ~Owner() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  int ends[2];
};

Reply run(const std::function<Reply()>& work, double seconds = 20, double cpu_seconds = 20) {
  const Owner owner;
  const auto reply = run_in_child({seconds, cpu_seconds, 1, 256 << 20}, owner.ends[0], [&](int) { return work(); });
  REQUIRE(reply);
  return *reply;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

}  // namespace

TEST_CASE("what the child answers arrives, and what it prints does not get in between") {
  const Reply reply = run([] {
    std::puts("chatter");
    std::fflush(stdout);
    Reply answer;
    answer.code_hash = "42";
    return answer;
  });
  CHECK(reply.outcome == Outcome::Ok);
  CHECK(reply.code_hash == "42");
}

TEST_CASE("a child that prints more than a pipe holds is not held up") {
  const Reply reply = run([] {
    for (int i = 0; i < 100000; ++i) std::fputs("chatter chatter\n", stderr);
    return Reply{};
  });
  CHECK(reply.outcome == Outcome::Ok);
}

TEST_CASE("every way a child can end has its outcome") {
  Reply reply = run([]() -> Reply {
    std::fputs("cannot go on\n", stderr);
    ::abort();
  });
  CHECK(reply.outcome == Outcome::Crash);
  CHECK(reply.reason == "killed by SIGABRT: cannot go on");
  reply = run([]() -> Reply {
    ::raise(SIGSEGV);
    hang();
  });
  CHECK(reply.reason == "killed by SIGSEGV");
  reply = run([]() -> Reply { _exit(3); });
  CHECK(reply.outcome == Outcome::Crash);
  CHECK(reply.reason == "the process ended with exit code 3");
  reply = run([]() -> Reply {
    ::raise(SIGALRM);
    hang();
  });
  CHECK(reply.outcome == Outcome::Timeout);
  reply = run([]() -> Reply {
    ::raise(SIGKILL);
    hang();
  });
  CHECK(reply.outcome == Outcome::OutOfMemory);
  reply = run([]() -> Reply { throw std::bad_alloc(); });
  CHECK(reply.outcome == Outcome::OutOfMemory);
  reply = run([]() -> Reply {
    std::fputs("LLVM ERROR: out of memory\n", stderr);
    ::abort();
  });
  CHECK(reply.outcome == Outcome::OutOfMemory);
  reply = run([]() -> Reply { hang(); }, 0.05);
  CHECK(reply.outcome == Outcome::Timeout);
  CHECK(reply.reason == "it took longer than 0.05 s");
}

TEST_CASE("time at work is limited apart from time that passes") {
  const Reply reply = run(
      []() -> Reply {
        while (std::clock() < 60 * CLOCKS_PER_SEC) {
        }
        return {};
      },
      600, 1);
  CHECK(reply.outcome == Outcome::Timeout);
}

namespace {

/// `work` in a process that is stopped for 1.5 s, with its children, from 0.2 s after its start on; 0 if it returned
/// true.
int stopped_meanwhile(const std::function<bool()>& work) {
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    _exit(work() ? 0 : 1);
  }
  setpgid(process, process);
  usleep(200'000);
  kill(-process, SIGSTOP);
  usleep(1'500'000);
  kill(-process, SIGCONT);
  int status = -1;
  REQUIRE(waitpid(process, &status, 0) == process);
  return status;
}

}  // namespace

TEST_CASE("time in which everything was stopped is not held against a child") {
  const auto slow = [] {
    const Reply reply = run(
        [] {
          usleep(400'000);
          return Reply{};
        },
        1.2);
    return reply.outcome == Outcome::Ok;
  };
  CHECK(stopped_meanwhile(slow) == 0);
  const auto call = [] {
    const CallLimit limit(1.2);
    const double until = now_seconds() + 1.9;  // 0.4 s at work
    while (now_seconds() < until) {
    }
    return true;
  };
  CHECK(stopped_meanwhile(call) == 0);
}

TEST_CASE("a call that takes too long is ended") {
  const Reply reply = run([]() -> Reply {
    const CallLimit limit(0.1);
    hang();
  });
  CHECK(reply.outcome == Outcome::Timeout);
  CHECK(reply.reason == "a call took longer than its limit");
}

TEST_CASE("memory is limited") {
  const Reply reply = run([]() -> Reply {
    std::vector<std::vector<char>> hoard;
    for (;;) hoard.emplace_back(16 << 20, 'x');
  });
  CHECK(reply.outcome == Outcome::OutOfMemory);
}

TEST_CASE("a child whose owner leaves is killed with what it started") {
  Owner owner;
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t leaver = fork();
  if (leaver == 0) {
    char byte;
    close(owner.ends[0]);
    if (read(pipe_ends[0], &byte, 1) < 0) _exit(1);  // until the child below runs
    _exit(0);                                        // closes the owner's last open end
  }
  close(std::exchange(owner.ends[1], -1));
  const auto reply = run_in_child({60, 60, 1, 256 << 20}, owner.ends[0], [&](int) -> Reply {
    const pid_t grandchild = fork();
    if (grandchild == 0) hang();
    if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
    hang();
  });
  CHECK_FALSE(reply);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}
