// What options with free text have in common.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class Option;
}

namespace tile_tune::cli {

/// Of a kernel: Halide's thread pool holds at most 256 (MAX_THREADS in its runtime's thread_pool_common.h).
inline constexpr int kMaxThreads = 256;

/// Refuses an empty value: `--db ''` is a variable that was not set, never a file.
void refuse_empty(CLI::Option* option);

/// Of a number of seconds: refuses zero, negative and infinite ones, and what is no number.
void need_positive_seconds(CLI::Option* option);

/// Of a seed: refuses all but a whole number of 64 bits, which would otherwise be cut to fit without a word.
void need_seed(CLI::Option* option);

/// Of a count: refuses all but whole numbers in these bounds, in a sentence.
std::function<std::string(const std::string&)> whole_number(int from, int to);

}  // namespace tile_tune::cli
