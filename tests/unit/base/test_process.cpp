#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <nlohmann/json.hpp>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/process/children.h"
#include "base/process/fork.h"
#include "base/process/fork_safe_mutex.h"
#include "base/process/lines.h"
#include "base/process/memory_file.h"
#include "base/process/spawn.h"

using namespace tile_tune::base;

namespace {

Finished shell(const std::string& script, const std::string& input = "", Command command = {}) {
  command.words = {"sh", "-c", script};
  const auto finished = run(command, input);
  REQUIRE(finished);
  return *finished;
}

}  // namespace

TEST_CASE("what a program writes and ends with comes back") {
  const auto done = shell("cat; echo said >&2; exit 3", "given\n");
  CHECK(done.out == "given\n");
  CHECK(done.err == "said\n");
  CHECK(done.ending.exit_code == 3);
  CHECK(done.ending.signal == 0);
  CHECK_FALSE(done.ending.ok());
  CHECK(shell("exit 0").ending.ok());
}

TEST_CASE("a program that a signal kills did not end well") {
  const auto done = shell("kill -TERM $$");
  CHECK(done.ending.signal == SIGTERM);
  CHECK_FALSE(done.ending.ok());
}

TEST_CASE("more than a pipe holds does not stop a program") {
  const auto done = shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo x >&2; i=$((i+1)); done");
  CHECK(done.out.size() == 20000 * 11);
  CHECK(done.err.size() == 20000 * 2);
}

TEST_CASE("a program that is not there is an errno") {
  const auto none = run({.words = {"no-such-program-anywhere"}});
  REQUIRE_FALSE(none);
  CHECK(none.error() == ENOENT);
  CHECK_FALSE(spawn({.words = {"true"}, .directory = "/nonexistent"}, {}));
}

TEST_CASE("programs run where they are told to, and in English") {
  CHECK(shell("pwd -P", "", {.directory = "/usr"}).out == "/usr\n");
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  CHECK(shell("echo $LC_ALL").out == "de_DE.UTF-8\n");
  CHECK(shell("echo $LC_ALL", "", {.in_english = true}).out == "C\n");
  unsetenv("LC_ALL");
  CHECK(shell("echo $LC_ALL", "", {.in_english = true}).out == "C\n");
}

TEST_CASE("a program leads a group of its own if it is asked to, and else is in ours") {
  const std::string group = "cut -d' ' -f5 /proc/$$/stat";
  CHECK(shell(group).out == std::to_string(getpgrp()) + "\n");
  const auto own = shell(group, "", {.own_group = true});
  CHECK(own.out == std::to_string(own.process) + "\n");
}

TEST_CASE("who is told to stop kills the program and what it started") {
  std::atomic<bool> stop = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto done = run({.words = {"sh", "-c", "sleep 600 & echo $!; wait"}, .own_group = true}, "", &stop);
  later.join();
  REQUIRE(done);
  CHECK(done->ending.signal == SIGKILL);
  const pid_t started = std::stoi(done->out);
  for (int i = 0; i < 200 && kill(started, 0) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  // Gone, or a zombie that nobody here has to reap.
  char state = 'Z';
  if (FILE* file = std::fopen(("/proc/" + std::to_string(started) + "/stat").c_str(), "r")) {
    if (std::fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
    std::fclose(file);
  }
  CHECK(state == 'Z');
}

TEST_CASE("a program that somebody stops and nobody lets go on is killed after a while, with what it started") {
  const std::atomic<bool> stop = false;
  const auto child = spawn({.words = {"sh", "-c", "kill -STOP $$; exit 3"}, .own_group = true}, {});
  REQUIRE(child);
  const auto ending = wait_for(*child, &stop, std::chrono::milliseconds(50));
  REQUIRE(ending);
  CHECK(ending->signal == SIGKILL);
  CHECK(ending->was_stopped);
}

TEST_CASE("a stopped program that nobody would be told to stop is killed alone") {
  const auto child = spawn({.words = {"sh", "-c", "kill -STOP $$; exit 3"}}, {});
  REQUIRE(child);
  const auto ending = wait_for(*child, nullptr, std::chrono::milliseconds(50));
  REQUIRE(ending);
  CHECK(ending->signal == SIGKILL);
  CHECK(ending->was_stopped);
}

TEST_CASE("of several pieces of work one that somebody stops is given up after a while, the others go on") {
  const auto work = [](size_t number) -> tile_tune::Result<nlohmann::json> {
    if (number == 1) raise(SIGSTOP);
    return nlohmann::json(number);
  };
  const auto values = in_children(3, 2, work, std::chrono::milliseconds(50));
  REQUIRE_FALSE(values);
  CHECK(values.error().code == "compiler-died");
  CHECK(values.error().message == "somebody had stopped the process that compiles");
}

TEST_CASE("a program that is stopped and goes on ends as it would have") {
  const std::atomic<bool> stop = false;
  const std::string script = "(sleep 0.05; kill -CONT $$) & kill -STOP $$; exit 3";
  const auto child = spawn({.words = {"sh", "-c", script}, .own_group = true}, {});
  REQUIRE(child);
  const auto ending = wait_for(*child, &stop, std::chrono::minutes(1));
  REQUIRE(ending);
  CHECK(ending->exit_code == 3);
  CHECK(ending->signal == 0);
  CHECK_FALSE(ending->was_stopped);
}

TEST_CASE("who is told to stop kills a stopped program without waiting for its time to be over") {
  const std::atomic<bool> stop = true;
  const auto child = spawn({.words = {"sh", "-c", "kill -STOP $$"}, .own_group = true}, {});
  REQUIRE(child);
  const auto ending = wait_for(*child, &stop, std::chrono::minutes(10));
  REQUIRE(ending);
  CHECK(ending->signal == SIGKILL);
  CHECK_FALSE(ending->was_stopped);
}

TEST_CASE("a program can be given default signals, whatever is ignored here") {
  signal(SIGTERM, SIG_IGN);
  const std::string script = "kill -TERM $$; echo survived";
  CHECK(shell(script).out == "survived\n");
  CHECK(shell(script, "", {.default_signals = true}).ending.signal == SIGTERM);
  signal(SIGTERM, SIG_DFL);
}

TEST_CASE("a forked child's streams and exit code are what it was told") {
  const MemoryFile out, err;
  const auto child = fork_child({.streams = {.out = out.descriptor(), .err = err.descriptor()}, .own_group = true}, [] {
    char byte;
    const bool nothing = read(STDIN_FILENO, &byte, 1) == 0;
    dprintf(STDOUT_FILENO, "group %d", getpgrp() == getpid());  // not what this process had buffered
    return nothing ? 7 : 8;
  });
  REQUIRE(child);
  const auto ending = wait_for(*child);
  REQUIRE(ending);
  CHECK(ending->exit_code == 7);
  CHECK(out.text() == "group 1");
  CHECK(err.text().empty());
}

TEST_CASE("an exception that leaves a forked child's work is its last word") {
  const MemoryFile err;
  const auto child =
      fork_child({.streams = {.err = err.descriptor()}}, []() -> int { throw std::runtime_error("it broke"); });
  REQUIRE(child);
  const auto ending = wait_for(*child);
  REQUIRE(ending);
  CHECK(ending->exit_code == 1);
  CHECK(err.text() == "it broke");
}

TEST_CASE("a child begins with mutexes unlocked, and whole what they guard") {
  static ForkSafeMutex& mutex = *new ForkSafeMutex;
  const bool is_writer = GENERATE(true, false);
  bool is_whole = true;
  std::latch is_held(1);
  std::thread other([&] {
    const auto hold = [&](auto&&) {
      is_whole = !is_writer;
      is_held.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for the fork to begin in
      is_whole = true;
    };
    if (is_writer)
      hold(std::unique_lock(mutex));
    else
      hold(std::shared_lock(mutex));
  });
  is_held.wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const std::unique_lock lock(mutex);
    _exit(is_whole ? 0 : 1);
  }
  other.join();
  { const std::unique_lock lock(mutex); }
  const auto ending = wait_for(child);
  REQUIRE(ending);
  CHECK(ending->exit_code == 0);
  CHECK(ending->signal == 0);
}

TEST_CASE("who is no child of ours is not waited for") {
  CHECK_FALSE(wait_for(1));
  CHECK(errno == ECHILD);
}

TEST_CASE("the last line of a text, newlines apart") {
  CHECK(last_line("one\ntwo\n\n") == "two");
  CHECK(last_line("one") == "one");
  CHECK(last_line("\n") == "");
  CHECK(last_line("") == "");
}

TEST_CASE("a file in memory is read from its beginning once it is rewound") {
  const MemoryFile file;
  REQUIRE(file.write("abc"));
  REQUIRE(file.write("def"));
  CHECK(file.text() == "abcdef");
  char bytes[6];
  CHECK(read(file.descriptor(), bytes, sizeof bytes) == 0);
  REQUIRE(file.rewind());
  CHECK(read(file.descriptor(), bytes, sizeof bytes) == 6);
}
