#include "search/baselines/compile_baseline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "base/process/memory_file.h"
#include "base/process/spawn.h"
#include "base/sha256.h"
#include "search/baselines/kept_objects.h"

namespace tile_tune::search {
namespace {

namespace fs = std::filesystem;

const char* const kCompiler = "g++";
const char* const kNotWritten = "no file could be written";
// Flags of decision 19; -ffast-math lets exponentials be vectorised and sums be split, which only makes it faster.
const char* const kCommonFlags[] = {"-std=c++17",  "-O3", "-fopenmp",           "-fPIC",
                                    "-ffast-math", "-w",  "-fvisibility=hidden"};

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Words compiler(const CompilerOptions& options) {
  Words words{kCompiler};
  words.insert(words.end(), std::begin(kCommonFlags), std::end(kCommonFlags));
  append(words, options.instructions);
  return words;
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

/// A compiler at work.
struct Running {
  pid_t process;
  size_t number;  // of its command
  base::MemoryFile output;
};

/// How many of all commands have ended.
struct Progress {
  const CompilerOptions& options;
  size_t all, done = 0;
  void tell() const {
    if (options.progress) options.progress(done, all);
  }
  void step() {
    ++done;
    tell();
  }
};

struct Compilation {
  Words words;
  Baseline baseline;  // whom a fault is told of
};

/// Runs the commands, at most options.jobs at a time. One fault for each, in order.
std::vector<BaselineFault> run(const std::vector<Compilation>& commands, const fs::path& directory,
                               const CompilerOptions& options, Progress& progress) {
  std::vector<BaselineFault> faults(commands.size());
  std::deque<Running> running;
  size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    const bool stopped = options.stop && *options.stop;
    while (!stopped && next < commands.size() && running.size() < static_cast<size_t>(options.jobs)) {
      const size_t number = next++;
      base::MemoryFile output;
      const auto child = base::spawn({.words = commands[number].words, .directory = directory, .own_group = true},
                                     {.out = output.descriptor(), .err = output.descriptor()});
      if (child)
        running.push_back({*child, number, std::move(output)});
      else
        faults[number] = fmt::format("{} is not installed", kCompiler);
    }
    if (stopped) {
      while (next < commands.size()) faults[next++] = "stopped";
    }
    if (running.empty()) continue;
    const Running& first = running.front();
    const auto ending = base::wait_for(first.process, options.stop);
    if (ending && ending->was_stopped)
      faults[first.number] = fmt::format("somebody had stopped {}", kCompiler);
    else if (!ending || !ending->ok())
      faults[first.number] = reason_in(first.output.text(), commands[first.number].baseline);
    running.pop_front();
    progress.step();
  }
  return faults;
}

/// What an adapter's object depends on beside the headers of others.
std::string name_of(const AdapterSource& adapter, const Words& command, const std::string& machine) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", adapter.name, adapter.text, fmt::join(command, " "), machine);
  for (const auto& [name, content] : adapters()) text += name + "\n" + content;
  return base::sha256_hex(text) + ".o";
}

std::string object_of(const std::string& adapter) { return fs::path(adapter).replace_extension(".o"); }
std::string rule_of(const std::string& adapter) { return fs::path(adapter).replace_extension(".d"); }

/// Compiles, or takes from the cache, what the jobs are linked with. The fault of each adapter by its name, or "".
std::map<std::string, BaselineFault> provide_adapters(const std::vector<BaselineJob>& work, const fs::path& directory,
                                                      const CompilerOptions& options, Progress& progress) {
  struct Missing {
    std::string adapter, kept_as;
  };
  std::vector<Missing> missing;
  std::vector<Compilation> commands;
  std::map<std::string, BaselineFault> faults;
  for (const auto& job : work) {
    for (const auto& adapter : job.source.adapters) {
      const std::string& name = adapter.name;
      if (!faults.emplace(name, "").second || fs::exists(directory / object_of(name))) continue;
      Words words = compiler(options);
      append(words, adapter.flags);
      const std::string kept_as = name_of(adapter, words, options.machine);
      if (take_object(kept_as, directory / object_of(name))) continue;
      if (!base::write_text(directory / name, adapter.text)) {
        faults[name] = kNotWritten;
        continue;
      }
      append(words, {"-c", "-MD", "-o", object_of(name), name});
      missing.push_back({name, kept_as});
      commands.push_back({std::move(words), job.baseline});
    }
  }
  progress.all += missing.size();
  progress.tell();
  const auto ran = run(commands, directory, options, progress);
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto& [name, kept_as] = missing[i];
    faults[name] = ran[i];
    if (ran[i].empty()) keep_object(kept_as, directory / object_of(name), directory / rule_of(name));
  }
  return faults;
}

}  // namespace

std::vector<BaselineFault> compile_baselines(const std::vector<BaselineJob>& work, const fs::path& directory,
                                             const CompilerOptions& options) {
  std::vector<BaselineFault> faults(work.size());
  for (const auto& [name, text] : adapters())
    if (!base::write_text(directory / name, text)) return std::vector<BaselineFault>(work.size(), kNotWritten);
  Progress progress{options, work.size()};
  const auto of_adapters = provide_adapters(work, directory, options, progress);

  std::vector<size_t> numbers;
  std::vector<Compilation> commands;
  for (size_t i = 0; i < work.size(); ++i) {
    const auto& [baseline, source, library] = work[i];
    for (const auto& adapter : source.adapters)
      if (faults[i].empty()) faults[i] = of_adapters.at(adapter.name);
    if (faults[i].empty() && !base::write_text(directory / (library + ".cpp"), source.text)) faults[i] = kNotWritten;
    if (!faults[i].empty()) continue;
    Words words = compiler(options);
    append(words, {"-shared", "-o", library, library + ".cpp"});
    for (const auto& adapter : source.adapters) words.push_back(object_of(adapter.name));
    append(words, source.flags);
    numbers.push_back(i);
    commands.push_back({std::move(words), baseline});
  }
  const auto ran = run(commands, directory, options, progress);
  for (size_t k = 0; k < numbers.size(); ++k) faults[numbers[k]] = ran[k];
  return faults;
}

}  // namespace tile_tune::search
