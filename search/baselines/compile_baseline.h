// Baselines from source text to shared libraries, by the machine's C++ compiler.
#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "search/baselines/baseline_source.h"

namespace tile_tune::search {

struct BaselineJob {
  Baseline baseline;
  BaselineSource source;
  std::string library;  // file name in the directory
};

/// "" if the library was made, else why not, in a sentence: the library or its headers are missing, most of all.
using BaselineFault = std::string;

/// Compiles all for `instructions` (instruction_bound.h), at most `jobs` at a time, in `directory`, which adapters()
/// are written to. One fault a job, in order.
std::vector<BaselineFault> compile_baselines(const std::vector<BaselineJob>& work,
                                             const std::vector<std::string>& instructions,
                                             const std::filesystem::path& directory, int jobs,
                                             const std::atomic<bool>* stop);

}  // namespace tile_tune::search
