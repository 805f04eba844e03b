// A bound program with inputs and what it must compute from them: all that judging a kernel takes.
//
// The tuner makes a problem once and writes it to a directory of the session; a worker reads it once and its children
// inherit it. Arrays are raw little-endian files, everything else is problem.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/reference/reference.h"

namespace tile_tune::search {

struct Problem {
  ir::Program program;
  reference::Inputs inputs;
  std::vector<reference::Expected> expected;  // empty: the caller judges (Workers' run_once)
  bool sampled = false;                       // only a sample of the outputs is expected
  std::string note;                           // how inputs were narrowed to keep the reference finite, or empty
  std::vector<Problem> special = {};          // at most one: the program on zeros, infinities and their like
};

/// Where there is time, the reference is evaluated whole if that takes a core no longer than this. Otherwise every
/// candidate is compiled once more at small sizes: 0.4 to 0.8 s of a core, which halved the trials of 128x1024x1024 in
/// 30 s, and is more than this from the twentieth on.
inline constexpr double kWholeSeconds = 10;

/// Random inputs and the reference on them: whole where that takes a core less than `whole_seconds`, else on as many
/// elements of each output as it has these seconds for, 64 to 4,096, and its borders. Inputs' range is narrowed where
/// the result would not be finite
///. `written` (may be null) is the program before its sums of products were put into steps: where its
/// reference takes no more than a second it is what is expected. Of programs with float inputs of up to 64 MiB a few
/// elements are also judged on special numbers.
Result<Problem> make_problem(const ir::Program& program, uint64_t seed, const ir::Program* written = nullptr,
                             double whole_seconds = kWholeSeconds);

Result<void> write_problem(const Problem& problem, const std::filesystem::path& directory);
Result<Problem> read_problem(const std::filesystem::path& directory);
/// The program alone, which is all that building takes.
Result<ir::Program> read_program(const std::filesystem::path& directory);

/// Outputs of a Run, in signature order.
Result<void> write_outputs(const std::vector<tensor::Array>& outputs, const std::filesystem::path& directory);
Result<std::vector<tensor::Array>> read_outputs(const ir::Program& program, const std::filesystem::path& directory);

/// Bytes of all buffers a kernel of this program is given.
int64_t buffer_bytes(const ir::Program& program);

}  // namespace tile_tune::search
