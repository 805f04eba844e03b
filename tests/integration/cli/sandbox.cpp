#include "sandbox.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tile_tune::test {

namespace fs = std::filesystem;

namespace {

/// Between fork and exec.
[[noreturn]] void become(const std::vector<std::string>& command, const fs::path& root, const std::string& log,
                         long file_limit) {
  const int out = open((root / (log + ".out")).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err = open((root / (log + ".err")).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (chdir(root.c_str()) != 0) _exit(126);
  setenv("HOME", root.c_str(), 1);
  unsetenv("XDG_DATA_HOME");
  unsetenv("TILE_TUNE_DB");
  if (file_limit > 0) {
    const rlimit limit{static_cast<rlim_t>(file_limit), static_cast<rlim_t>(file_limit)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

std::vector<std::string> tile_tune(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{TILE_TUNE_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

Sandbox::Sandbox() {
  std::string pattern = (fs::temp_directory_path() / "tile-tune-cli-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  root_ = pattern;
  for (const char* example : {"matmul.tc", "matvec.tc", "maxpool2x2.tc", "conv2d.tc"})
    fs::copy_file(fs::path(TILE_TUNE_SOURCE_DIR) / "examples" / example, root_ / example);
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Sandbox::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Sandbox::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path(name), std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> Sandbox::names(const std::string& folder) const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(path(folder), error), end; !error && entry != end; entry.increment(error))
    found.push_back(entry->path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

pid_t Sandbox::spawn(const std::vector<std::string>& command, const std::string& log, long file_limit) const {
  const pid_t pid = fork();
  if (pid == 0) become(command, root_, log, file_limit);
  if (pid < 0) throw std::runtime_error("cannot fork");
  return pid;
}

pid_t Sandbox::start(const std::vector<std::string>& arguments, const std::string& log) const {
  return spawn(tile_tune(arguments), log, 0);
}

Finished Sandbox::finish(pid_t pid, const std::string& log) const {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("cannot wait");
  Finished finished;
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  finished.out = read(log + ".out");
  finished.err = read(log + ".err");
  fs::remove(path(log + ".out"));
  fs::remove(path(log + ".err"));
  return finished;
}

pid_t Sandbox::child_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  pid_t child = 0;
  while (!(std::ifstream("/proc/" + number + "/task/" + number + "/children") >> child))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return child;
}

Finished Sandbox::run(const std::vector<std::string>& arguments, long file_limit) const {
  return finish(spawn(tile_tune(arguments), ".log", file_limit), ".log");
}

Finished require(const Finished& finished) {
  INFO(finished.out << finished.err);
  REQUIRE(finished.exit_code == 0);
  return finished;
}

std::string code_of(const Finished& finished) {
  const auto open = finished.err.rfind('['), close = finished.err.rfind(']');
  return open == std::string::npos ? "" : finished.err.substr(open + 1, close - open - 1);
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string Sandbox::tool() { return TILE_TUNE_BINARY; }

Finished Sandbox::run_program(const std::vector<std::string>& command) const {
  return finish(spawn(command, ".log", 0), ".log");
}

}  // namespace tile_tune::test
