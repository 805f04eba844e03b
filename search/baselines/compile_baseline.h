// Baselines from source text to shared libraries, by the machine's C++ compiler.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
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

struct CompilerOptions {
  std::vector<std::string> instructions;  // instruction_bound.h
  std::string machine;                    // what these mean here, in any words: adapters are kept for machines like it
  int jobs = 1;                           // at a time
  const std::atomic<bool>* stop = nullptr;
  std::function<void(size_t done, size_t all)> progress = {};
};

/// Compiles all in `directory`, which adapters() are written to. One fault a job, in order.
std::vector<BaselineFault> compile_baselines(const std::vector<BaselineJob>& work,
                                             const std::filesystem::path& directory, const CompilerOptions& options);

}  // namespace tile_tune::search
