#include "search/baselines/compile_baseline.h"

#include <fmt/format.h>

#include <deque>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "base/process/memory_file.h"
#include "base/process/spawn.h"

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;

// Flags of decision 19; -ffast-math lets exponentials be vectorised and sums be split, which only makes it faster.
const char* const kCommonFlags[] = {"-std=c++17", "-O3",         "-fopenmp", "-shared",
                                    "-fPIC",      "-ffast-math", "-w",       "-fvisibility=hidden"};

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

/// In `directory`; what it says goes to `output`. Or an errno.
tl::expected<pid_t, int> start(const BaselineJob& job, const std::vector<std::string>& instructions,
                               const fs::path& directory, const base::MemoryFile& output) {
  std::vector<std::string> words{"g++"};
  words.insert(words.end(), std::begin(kCommonFlags), std::end(kCommonFlags));
  words.insert(words.end(), instructions.begin(), instructions.end());
  words.insert(words.end(), {"-o", job.library, job.library + ".cpp"});
  words.insert(words.end(), job.source.flags.begin(), job.source.flags.end());
  return base::spawn({.words = words, .directory = directory, .own_group = true},
                     {.out = output.descriptor(), .err = output.descriptor()});
}

/// A compiler at work.
struct Running {
  pid_t process;
  size_t number;  // of its job
  base::MemoryFile output;
};

}  // namespace

std::vector<BaselineFault> compile_baselines(const std::vector<BaselineJob>& work,
                                             const std::vector<std::string>& instructions, const fs::path& directory,
                                             int jobs, const std::atomic<bool>* stop) {
  std::vector<BaselineFault> faults(work.size());
  for (const auto& [name, text] : adapters())
    if (!base::write_text(directory / name, text))
      return std::vector<BaselineFault>(work.size(), "no file could be written");
  std::deque<Running> running;
  size_t next = 0;
  while (next < work.size() || !running.empty()) {
    const bool stopped = stop && *stop;
    while (!stopped && next < work.size() && running.size() < static_cast<size_t>(jobs)) {
      const size_t number = next++;
      if (!base::write_text(directory / (work[number].library + ".cpp"), work[number].source.text)) {
        faults[number] = "no file could be written";
        continue;
      }
      base::MemoryFile output;
      if (const auto child = start(work[number], instructions, directory, output))
        running.push_back({*child, number, std::move(output)});
      else
        faults[number] = "g++ is not installed";
    }
    if (stopped) {
      while (next < work.size()) faults[next++] = "stopped";
    }
    if (running.empty()) continue;
    const Running& first = running.front();
    const auto ending = base::wait_for(first.process, stop);
    if (ending && ending->was_stopped)
      faults[first.number] = "somebody had stopped g++";
    else if (!ending || !ending->ok())
      faults[first.number] = reason_in(first.output.text(), work[first.number].baseline);
    running.pop_front();
  }
  return faults;
}

}  // namespace tile_tune::search
