// Stopping, dying and starting: processes and files never outlive their session.
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "base/process/lines.h"
#include "search/judge/problem.h"
#include "search/workers/workers.h"
#include "tests/integration/workers/forced_backend.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;
using test::Behaviour;
using test::scheduled;
namespace fs = std::filesystem;

namespace {

WorkerOptions session_options(const fs::path& marker) {
  WorkerOptions options;
  options.command = {"/proc/self/exe", "forced-worker", marker.string()};
  options.target.cpu_model = "forced";
  options.jobs = 2;
  options.limits = {100, 100, 512 << 20};
  options.race_seconds_per_kernel = 0.005;
  return options;
}

pid_t wait_for_marker(const fs::path& marker) {
  while (!fs::exists(marker)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  pid_t process = 0;
  std::ifstream(marker) >> process;
  return process;
}

// Gone, or dead and not yet reaped by its new parent.
bool is_dead(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return !(status >> number >> name >> state) || state == "Z";
}

pid_t parent_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  pid_t parent = 0;
  for (std::string word; status >> word;)
    if (word == "PPid:") status >> parent;
  return parent;
}

void wait_until_dead(pid_t process) {
  while (!is_dead(process)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("a stop in mid-batch keeps what is finished and kills what hangs") {
  const auto hanging = GENERATE(Behaviour::HangInCompile, Behaviour::HangInRun);
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const fs::path marker = directory->path() / "marker";
  std::atomic<bool> stop = false;
  auto options = session_options(marker);
  options.stop = &stop;
  const auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE(workers);
  pid_t hung = 0;
  std::thread stopper([&] {
    hung = wait_for_marker(marker);
    stop = true;
  });
  const auto result =
      (*workers)->measure({scheduled(Behaviour::CompileDiagnostic), scheduled(hanging), scheduled(Behaviour::AlsoGood)},
                          scheduled(Behaviour::Good));
  stopper.join();
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::CompileError);
  wait_until_dead(hung);
  CHECK((*workers)->finals({scheduled(Behaviour::Good)}).empty());
}

TEST_CASE("a full disk ends the batch with its own diagnostic: nothing is said of the candidates it stopped") {
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const auto workers =
      Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), session_options(directory->path() / "marker"));
  REQUIRE(workers);
  CHECK_FALSE((*workers)->trouble());
  const auto result = (*workers)->measure(
      {scheduled(Behaviour::CompileDiagnostic), scheduled(Behaviour::NoSpaceInCompile), scheduled(Behaviour::AlsoGood)},
      scheduled(Behaviour::Good));
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::CompileError);
  REQUIRE((*workers)->trouble());
  CHECK((*workers)->trouble()->code == "disk-full");
  CHECK((*workers)->trouble()->message ==
        "no space is left for temporary files in " + directory->path().parent_path().string());
  CHECK((*workers)->trouble()->note.find("TMPDIR") != std::string::npos);
}

TEST_CASE("a new session removes directories of dead ones, and none of those at work or of others") {
  const auto working = SessionDirectory::create();
  REQUIRE(working);
  const fs::path temporary = working->path().parent_path();
  const fs::path orphan = temporary / "tile-tune-session-orphan", foreign = temporary / "tile-tune-session-foreign";
  for (const auto& path : {orphan, foreign}) fs::create_directories(path / "problem-0");
  std::ofstream(orphan / "owner.lock").flush();
  const auto next = SessionDirectory::create();
  REQUIRE(next);
  CHECK_FALSE(fs::exists(orphan));
  CHECK(fs::exists(foreign));
  CHECK(fs::exists(working->path()));
  fs::remove_all(foreign);
}

TEST_CASE("when the tuner dies its workers, their children and all files go") {
  const auto directory = SessionDirectory::create();
  const auto session = SessionDirectory::create();
  REQUIRE(directory);
  REQUIRE(session);
  const fs::path marker = directory->path() / "marker";
  const auto problem = make_problem(test::doubling(3, 5), 1);
  REQUIRE(problem);
  REQUIRE(write_problem(*problem, session->path() / "p"));
  int sockets[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
  const pid_t worker = fork();
  if (worker == 0) {
    dup2(sockets[1], 0);
    dup2(sockets[1], 1);
    execl("/proc/self/exe", "test", "forced-worker", marker.c_str(), nullptr);
    _exit(127);
  }
  close(sockets[1]);
  codegen::Target target;
  REQUIRE(
      tile_tune::base::write_line(sockets[0], encode(Request(Setup{session->path(), target, {100, 100, 512 << 20}}))));
  tile_tune::base::LineReader replies(sockets[0]);
  const auto ready = replies.next();
  REQUIRE(ready);
  REQUIRE(decode_reply(*ready)->outcome == Outcome::Ok);
  REQUIRE(tile_tune::base::write_line(sockets[0],
                                      encode(Request(Build{"p", scheduled(Behaviour::HangInCompile), "k.so"}))));
  const pid_t child = wait_for_marker(marker);
  CHECK_FALSE(is_dead(child));
  close(sockets[0]);  // as the kernel does for a tuner that was killed
  int status = -1;
  REQUIRE(waitpid(worker, &status, 0) == worker);
  CHECK(status == 0);
  CHECK(is_dead(child));
  CHECK_FALSE(fs::exists(session->path()));
}

TEST_CASE("a worker that is killed is replaced, and its child dies with it") {
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const fs::path marker = directory->path() / "marker";
  auto options = session_options(marker);
  options.jobs = 1;
  const auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE(workers);
  std::vector<pid_t> children;
  std::thread killer([&] {
    for (int attempt = 0; attempt < 2; ++attempt) {
      const pid_t child = wait_for_marker(marker);
      children.push_back(child);
      fs::remove(marker);
      kill(parent_of(child), SIGKILL);
    }
  });
  const auto result = (*workers)->measure({scheduled(Behaviour::HangInCompile), scheduled(Behaviour::AlsoGood)},
                                          scheduled(Behaviour::Good));
  killer.join();
  REQUIRE(result.size() == 2);
  CHECK(result[0].outcome == Outcome::Crash);
  CHECK(result[0].reason == "the worker process died");
  CHECK(result[1].outcome == Outcome::Ok);
  REQUIRE(children.size() == 2);
  for (const pid_t child : children) wait_until_dead(child);
}

TEST_CASE("at its deadline a batch comes back with what is finished, and what hangs is killed") {
  const auto hanging = GENERATE(Behaviour::HangInCompile, Behaviour::HangInRun);
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const fs::path marker = directory->path() / "marker";
  const auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), session_options(marker));
  REQUIRE(workers);
  const auto result =
      (*workers)->measure({scheduled(Behaviour::CompileDiagnostic), scheduled(hanging), scheduled(Behaviour::AlsoGood)},
                          scheduled(Behaviour::Good), Deadline::after(5));
  REQUIRE(result.size() == 1);
  CHECK(result[0].outcome == Outcome::CompileError);
  wait_until_dead(wait_for_marker(marker));
  // What was judged by then can still be timed, and finals without time come to nothing.
  CHECK((*workers)->finals({scheduled(Behaviour::Good)}, Deadline::after(0)).empty());
  CHECK((*workers)->measure({scheduled(Behaviour::AlsoGood)}, scheduled(Behaviour::Good)).size() == 1);
}

TEST_CASE("finals whose time is over at any point of theirs come to nothing or to their end, and crash nobody") {
  const auto workers = Workers::start(test::doubling(1003, 1001), scheduled(Behaviour::Good), session_options(""));
  REQUIRE(workers);
  const std::vector<codegen::Schedule> finalists{scheduled(Behaviour::Good), scheduled(Behaviour::AlsoGood),
                                                 scheduled(Behaviour::Sluggish)};
  REQUIRE((*workers)->finals(finalists, {}).size() == 3);  // built now
  for (double seconds = 0.1; seconds < 0.6; seconds += 0.03) {
    INFO(seconds);
    for (const auto& measurement : (*workers)->finals(finalists, Deadline::after(seconds))) {
      CHECK(measurement.outcome == Outcome::Ok);
      CHECK_FALSE(measurement.samples_ns.empty());
    }
  }
}

TEST_CASE("a session whose time is over before it is ready says so") {
  auto options = session_options("");
  options.deadline = Deadline::after(0);
  const auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().code == kOutOfTime);
}

TEST_CASE("a worker that somebody stops is told of, waited for a while, and replaced") {
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const fs::path marker = directory->path() / "marker";
  auto options = session_options(marker);
  options.jobs = 1;
  std::vector<std::string> waits, warnings;
  options.onlooker.waiting = [&](const std::string& sentence) { waits.push_back(sentence); };
  options.onlooker.warning = [&](const std::string& sentence) { warnings.push_back(sentence); };
  const auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE(workers);
  pid_t worker = 0;
  std::thread stopper([&] {
    const pid_t child = wait_for_marker(marker);
    worker = parent_of(child);
    kill(worker, SIGSTOP);
    kill(child, SIGKILL);
  });
  // The second attempt hangs as well, with nobody to stop it: the deadline ends that.
  const auto result =
      (*workers)->measure({scheduled(Behaviour::HangInCompile)}, scheduled(Behaviour::Good), Deadline::after(20));
  stopper.join();
  CHECK(result.empty());
  const std::string name = "worker process " + std::to_string(worker);
  const auto about_worker = [&](const std::string& text) { return text.find(name) != std::string::npos; };
  CHECK(std::any_of(waits.begin(), waits.end(), about_worker));
  REQUIRE(warnings.size() == 1);
  CHECK(about_worker(warnings[0]));
  wait_until_dead(worker);
}

TEST_CASE("what keeps a session from starting is one diagnostic") {
  auto options = session_options("");
  options.target.cpu_model = "impossible";
  auto workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().message == "cannot build kernels on this machine: this target is not possible");
  options.target.cpu_model = "full disk";
  workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().code == "disk-full");
  CHECK(workers.error().message.find("warm-up") == std::string::npos);
  options.command = {"/nonexistent/tile-tune", "worker"};
  workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().message.find("/nonexistent/tile-tune") != std::string::npos);
  options.command = {"/bin/false"};
  workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().message.find("the worker process died") != std::string::npos);
  std::atomic<bool> stop = true;
  options = session_options("");
  options.stop = &stop;
  workers = Workers::start(test::doubling(3, 5), scheduled(Behaviour::Good), options);
  REQUIRE_FALSE(workers);
  CHECK(workers.error().code == "stopped");
}

TEST_CASE("a schedule runs once on given arrays") {
  const auto program = test::doubling(2, 3);
  reference::Inputs inputs;
  inputs[0] = tensor::Array::zeros(DType::F32, {2, 3});
  for (int i = 0; i < 6; ++i) inputs[0].as<float>()[i] = static_cast<float>(i) - 2.5f;
  const auto outputs = run_once(program, scheduled(Behaviour::Good), inputs, session_options(""));
  REQUIRE(outputs);
  REQUIRE(outputs->size() == 1);
  for (int i = 0; i < 6; ++i) CHECK(outputs->at(0).as<float>()[i] == 2 * (static_cast<float>(i) - 2.5f));
  const auto failed = run_once(program, scheduled(Behaviour::ErrorCode), inputs, session_options(""));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == "run-error");
  CHECK(failed.error().message.find("upside down") != std::string::npos);
}
