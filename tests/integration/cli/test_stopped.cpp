// What becomes of commands whose processes somebody stops (SIGSTOP), and does not let go on.
#include <signal.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

namespace fs = std::filesystem;

/// While one lives, a program of this name is one that stops itself.
class StoppingTool {
 public:
  StoppingTool(const Sandbox& box, const std::string& name)
      : before_(getenv("PATH")), ran_(box.path(name + "-tools/ran")) {
    const fs::path folder = ran_.parent_path();
    fs::create_directory(folder);
    box.write(name + "-tools/" + name, "#!/bin/sh\ntouch " + ran_.string() + "\nkill -STOP $$\n");
    fs::permissions(folder / name, fs::perms::owner_all);
    setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
  }
  ~StoppingTool() { setenv("PATH", before_.c_str(), 1); }
  StoppingTool(const StoppingTool&) = delete;
  StoppingTool& operator=(const StoppingTool&) = delete;

  void wait_until_it_runs() const {
    while (!fs::exists(ran_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::string before_;
  fs::path ran_;
};

pid_t build(const Sandbox& box, const std::string& folder) {
  return box.start({"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", folder}, folder);
}

/// Stops the process that writes the package, once it runs that program: before, its parent cannot go on (vfork).
void stop_writer(pid_t builder) {
  const pid_t writer = Sandbox::child_of(builder);
  for (std::string words; words.find("--package") == std::string::npos;)
    std::getline(std::ifstream("/proc/" + std::to_string(writer) + "/cmdline"), words);
  kill(writer, SIGSTOP);
}

void check_given_up(const Sandbox& box, pid_t process, const std::string& folder, const std::string& sentence) {
  const auto ended = box.finish(process, folder);
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find(sentence) != std::string::npos);
  CHECK_FALSE(fs::exists(box.path(folder)));
}

}  // namespace

TEST_CASE("what somebody stops is given up after a while, and told of") {
  const Sandbox box;
  const auto with_stopping = [&](const std::string& tool) {
    const StoppingTool stopping(box, tool);
    return build(box, tool);
  };
  const pid_t compiler = with_stopping("cc"), archiver = with_stopping("ar");
  const pid_t writing = build(box, "writer");
  stop_writer(writing);
  const auto baselines = [&] {
    const StoppingTool stopping(box, "g++");
    return box.start({"bench", "matvec.tc", "-s", "R=3", "-s", "C=5", "--against", "openmp", "--rounds", "3"}, "bench");
  }();
  check_given_up(box, compiler, "cc", "somebody had stopped 'cc' while it made the package");
  check_given_up(box, archiver, "ar", "somebody had stopped 'ar' while it made the package");
  check_given_up(box, writing, "writer", "somebody had stopped the process that writes it");
  const auto bench = box.finish(baselines, "bench");
  INFO(bench.out << bench.err);
  CHECK(bench.exit_code == 0);
  CHECK((bench.out + bench.err).find("somebody had stopped g++") != std::string::npos);
}

TEST_CASE("a signal ends who waits for something that is stopped at once") {
  const Sandbox box;
  const bool is_writer = GENERATE(false, true);
  const StoppingTool compiler(box, "cc");
  const pid_t process = build(box, "out");
  if (is_writer)
    stop_writer(process);
  else
    compiler.wait_until_it_runs();
  kill(process, SIGTERM);
  const auto ended = box.finish(process, "out");
  INFO(ended.err);
  CHECK(ended.exit_code == 143);
  CHECK(ended.err.find("stopped by SIGTERM: nothing was written\n") != std::string::npos);
  CHECK_FALSE(fs::exists(box.path("out")));
}
