#include "search/baselines/compile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;

// Flags of rulings 4; -ffast-math lets exponentials be vectorised and sums be split, which only makes it faster.
const char* const kCommonFlags[] = {
    "-std=c++17",  "-O3", "-march=native",      "-mprefer-vector-width=512", "-fopenmp", "-shared", "-fPIC",
    "-ffast-math", "-w",  "-fvisibility=hidden"};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The first line that says what is wrong; the compiler's own words after "error:".
std::string reason_in(const std::string& output, Baseline baseline) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("error: ");
    const size_t missing = line.find("cannot find -l");
    if (at == std::string::npos && missing == std::string::npos) continue;
    if (missing != std::string::npos || line.find("No such file or directory") != std::string::npos)
      return fmt::format("{} is not installed", baseline_name(baseline));
    return line.substr(at);
  }
  return "the compiler gave up without a word";
}

pid_t start(const BaselineJob& job, const fs::path& directory, const fs::path& output) {
  std::vector<std::string> words{"g++"};
  words.insert(words.end(), std::begin(kCommonFlags), std::end(kCommonFlags));
  words.insert(words.end(), {"-o", job.library, job.library + ".cpp"});
  words.insert(words.end(), job.source.flags.begin(), job.source.flags.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&files, directory.c_str());
  pid_t child = -1;
  const int error = posix_spawnp(&child, "g++", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? child : -1;
}

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

}  // namespace

std::vector<BaselineFault> compile_baselines(const std::vector<BaselineJob>& work, const fs::path& directory, int jobs,
                                             const std::atomic<bool>* stop) {
  std::vector<BaselineFault> faults(work.size());
  for (const auto& [name, text] : adapters())
    if (!write_text(directory / name, text)) return std::vector<BaselineFault>(work.size(), "no file could be written");
  std::map<pid_t, size_t> running;
  size_t next = 0;
  const auto output = [&](size_t number) { return directory / (work[number].library + ".log"); };
  while (next < work.size() || !running.empty()) {
    const bool stopped = stop && *stop;
    while (!stopped && next < work.size() && running.size() < static_cast<size_t>(jobs)) {
      const size_t number = next++;
      if (!write_text(directory / (work[number].library + ".cpp"), work[number].source.text)) {
        faults[number] = "no file could be written";
        continue;
      }
      const pid_t child = start(work[number], directory, output(number));
      if (child < 0)
        faults[number] = "g++ is not installed";
      else
        running[child] = number;
    }
    if (stopped) {
      while (next < work.size()) faults[next++] = "stopped";
    }
    if (running.empty()) continue;
    const auto [child, number] = *running.begin();
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    running.erase(child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      faults[number] = reason_in(text_of(output(number)), work[number].baseline);
  }
  return faults;
}

}  // namespace tile_tune::search
