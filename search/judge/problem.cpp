#include "search/judge/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/disk_space.h"
#include "frontend/ir/json.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::search {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Outputs have expectations of 24 to 32 bytes an element: of more than these a sample must do.
constexpr int64_t kWholeElements = 1 << 21;
constexpr double kWrittenSeconds = 1;
constexpr int64_t kSamples = 4096, kFewestSamples = 64;  // of each output, besides its borders

// Of what is computed from special numbers fewer elements tell: a kernel treats them alike or not at all. Chains may
// need most of a program for any of their elements.
constexpr int64_t kSpecialSamples = 256, kSpecialSamplesOfChains = 8;
constexpr double kSpecialSeconds = 2;
constexpr int64_t kSpecialBytes = 64 << 20;  // larger programs are judged on these at small sizes

/// The number in `to` of a tensor of a caller of `from`, which has the same signature.
int same_tensor(const ir::Program& from, const ir::Program& to, int number) {
  for (const auto& [ours, theirs] : {std::pair{&from.inputs, &to.inputs}, std::pair{&from.outputs, &to.outputs}})
    for (size_t i = 0; i < std::min(ours->size(), theirs->size()); ++i)
      if ((*ours)[i] == number) return (*theirs)[i];
  for (size_t i = 0; i < std::min(from.outputs.size(), to.outputs.size()); ++i)
    if (from.initial_value_of(from.outputs[i]) == number) return to.initial_value_of(to.outputs[i]).value_or(number);
  return number;
}

// Random numbers, of which a program computes an index, may leave a tensor.
constexpr auto kOutside = reference::OutsideIndices::BecomeNearest;

/// What the program as written makes of the inputs, under the numbers of the problem's.
Result<std::vector<reference::Expected>> expected_as_written(const Problem& problem, const ir::Program& written) {
  reference::Inputs inputs;
  for (const auto& [number, array] : problem.inputs)
    inputs.emplace(same_tensor(problem.program, written, number), array);
  TILE_TUNE_TRY(expected, reference::evaluate(written, inputs, kOutside));
  for (auto& one : expected) one.tensor = same_tensor(written, problem.program, one.tensor);
  return expected;
}

/// Elements of each output that the reference has seconds for, where all take as long as these would.
int64_t samples_within(double seconds, double seconds_of_all, int64_t elements) {
  const double affordable = seconds / seconds_of_all * static_cast<double>(elements);
  return static_cast<int64_t>(std::clamp<double>(affordable, kFewestSamples, kSamples));
}

Result<void> judge(Problem& problem, uint64_t seed, const ir::Program* written, double whole_seconds) {
  if (written != nullptr && reference::evaluation_seconds(*written) <= std::min(kWrittenSeconds, whole_seconds)) {
    TILE_TUNE_TRY(expected, expected_as_written(problem, *written));
    problem.expected = std::move(expected);
    return {};
  }
  int64_t elements = 0;
  for (const int output : problem.program.outputs) elements += ir::element_count(problem.program.tensors[output]);
  const double seconds = reference::evaluation_seconds(problem.program);
  problem.sampled = seconds > whole_seconds || elements > kWholeElements;
  const int64_t samples = samples_within(whole_seconds, seconds, elements);
  TILE_TUNE_TRY(expected, problem.sampled
                              ? reference::evaluate_sample(problem.program, problem.inputs, samples, seed, kOutside)
                              : reference::evaluate(problem.program, problem.inputs, kOutside));
  problem.expected = std::move(expected);
  return {};
}

// Elements of inputs that lie in one place are one element.
reference::Inputs as_stored(const ir::Program& program, reference::Inputs inputs) {
  for (auto& [number, array] : inputs) {
    const auto& tensor = program.tensors[number];
    if (!ir::has_overlap(ir::strides(tensor), ir::shape(tensor))) continue;
    std::vector<std::byte> storage(static_cast<size_t>(storage_bytes(tensor)));
    to_storage(tensor, array, storage.data());
    array = {tensor.type, ir::shape(tensor), std::move(storage), ir::strides(tensor), ir::reach(tensor).before};
  }
  return inputs;
}

// Where a special number leads a subscript out of its tensor there is nothing to be judged.
void add_special(Problem& problem, uint64_t seed) {
  const auto& program = problem.program;
  if (buffer_bytes(program) > kSpecialBytes) return;
  auto inputs = reference::special_inputs(program, problem.inputs, seed);
  if (!inputs) return;
  *inputs = as_stored(program, std::move(*inputs));
  const bool few = program.statements.size() == 1 || reference::evaluation_seconds(program) <= kSpecialSeconds;
  auto expected = reference::evaluate_sample(program, *inputs, few ? kSpecialSamples : kSpecialSamplesOfChains, seed);
  if (expected) problem.special.push_back({program, *std::move(inputs), *std::move(expected), true, ""});
}

template <typename T>
bool write_raw(const fs::path& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return static_cast<bool>(file.flush());
}

template <typename T>
std::vector<T> read_raw(const fs::path& path) {
  std::vector<T> values(fs::file_size(path) / sizeof(T));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file) throw fs::filesystem_error("cannot read", path, std::error_code(EIO, std::generic_category()));
  return values;
}

fs::path special_directory(const fs::path& directory) { return directory / "special"; }
fs::path input_file(const fs::path& directory, int tensor) { return directory / fmt::format("input-{}", tensor); }
fs::path output_file(const fs::path& directory, int tensor) { return directory / fmt::format("output-{}", tensor); }
fs::path expected_file(const fs::path& directory, size_t number, const char* what) {
  return directory / fmt::format("expected-{}-{}", number, what);
}

tl::unexpected<Diagnostic> unwritable(const fs::path& directory) {
  const fs::path session = directory.parent_path();
  if (base::is_disk_full(session)) return failure("disk-full", base::no_space_text(session), base::kNoSpaceNote);
  return failure("cannot-write", fmt::format("cannot write to {}", directory.string()));
}

tl::unexpected<Diagnostic> unreadable(const fs::path& directory, const std::exception& error) {
  return failure("problem-unreadable",
                 fmt::format("cannot read a problem from {}: {}", directory.string(), error.what()));
}

json read_description(const fs::path& directory) {
  std::ifstream file(directory / "problem.json");
  return json::parse(file);
}

}  // namespace

Result<Problem> make_problem(const ir::Program& program, uint64_t seed, const ir::Program* written,
                             double whole_seconds) {
  Problem problem{program, as_stored(program, reference::random_inputs(program, seed)), {}, false, ""};
  TILE_TUNE_CHECK(judge(problem, seed, written, whole_seconds));
  // The reference may take seconds: other ranges are looked at only if this one was no good.
  if (!reference::is_mostly_finite(problem.expected)) {
    TILE_TUNE_TRY(range, reference::finite_range(program, seed));
    problem.inputs = as_stored(program, reference::random_inputs(program, seed, range));
    TILE_TUNE_CHECK(judge(problem, seed, written, whole_seconds));
    if (range.lo != reference::FloatRange{}.lo || range.hi != reference::FloatRange{}.hi)
      problem.note = fmt::format("float inputs in [{:g}, {:g}), where the result is finite", range.lo, range.hi);
  }
  add_special(problem, seed);
  return problem;
}

Result<void> write_problem(const Problem& problem, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  bool good = !error;
  json description = {
      {"program", ir::to_json(problem.program)}, {"sampled", problem.sampled}, {"note", problem.note},
      {"special", !problem.special.empty()},     {"inputs", json::array()},    {"expected", json::array()}};
  for (const auto& [tensor, array] : problem.inputs) {
    description["inputs"].push_back({{"tensor", tensor}, {"strides", array.strides}, {"origin", array.origin}});
    good = good && write_raw(input_file(directory, tensor), array.data);
  }
  for (size_t i = 0; i < problem.expected.size(); ++i) {
    const auto& expected = problem.expected[i];
    description["expected"].push_back(expected.tensor);
    good = good && write_raw(expected_file(directory, i, "elements"), expected.elements) &&
           write_raw(expected_file(directory, i, "values"), expected.values) &&
           write_raw(expected_file(directory, i, "imaginaries"), expected.imaginaries) &&
           write_raw(expected_file(directory, i, "integers"), expected.integers) &&
           write_raw(expected_file(directory, i, "tolerances"), expected.tolerances) &&
           write_raw(expected_file(directory, i, "also"), expected.also);
  }
  std::ofstream file(directory / "problem.json");
  file << description.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!good || !file.flush()) return unwritable(directory);
  for (const auto& special : problem.special) TILE_TUNE_CHECK(write_problem(special, special_directory(directory)));
  return {};
}

Result<ir::Program> read_program(const fs::path& directory) try {
  return ir::program_from_json(read_description(directory).at("program"));
} catch (const std::exception& error) {
  return unreadable(directory, error);
}

Result<Problem> read_problem(const fs::path& directory) try {
  const json description = read_description(directory);
  TILE_TUNE_TRY(program, ir::program_from_json(description.at("program")));
  Problem problem{std::move(program), {}, {}, description.at("sampled"), description.at("note"), {}};
  for (const auto& input : description.at("inputs")) {
    const int number = input.at("tensor");
    const auto& tensor = problem.program.tensors.at(static_cast<size_t>(number));
    problem.inputs[number] = {tensor.type, ir::shape(tensor), read_raw<std::byte>(input_file(directory, number)),
                              input.at("strides").get<std::vector<int64_t>>(), input.at("origin")};
  }
  size_t i = 0;
  for (const int tensor : description.at("expected")) {
    problem.expected.push_back({tensor, read_raw<int64_t>(expected_file(directory, i, "elements")),
                                read_raw<double>(expected_file(directory, i, "values")),
                                read_raw<int64_t>(expected_file(directory, i, "integers")),
                                read_raw<double>(expected_file(directory, i, "tolerances")),
                                read_raw<double>(expected_file(directory, i, "imaginaries")),
                                read_raw<uint8_t>(expected_file(directory, i, "also"))});
    ++i;
  }
  if (description.at("special")) {
    TILE_TUNE_TRY(special, read_problem(special_directory(directory)));
    problem.special.push_back(std::move(special));
  }
  return problem;
} catch (const std::exception& error) {
  return unreadable(directory, error);
}

Result<void> write_outputs(const std::vector<tensor::Array>& outputs, const fs::path& directory) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!write_raw(output_file(directory, static_cast<int>(i)), outputs[i].data)) return unwritable(directory);
  return {};
}

Result<std::vector<tensor::Array>> read_outputs(const ir::Program& program, const fs::path& directory) try {
  std::vector<tensor::Array> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const auto& tensor = program.tensors[program.outputs[i]];
    const auto raw = read_raw<std::byte>(output_file(directory, static_cast<int>(i)));
    if (static_cast<int64_t>(raw.size()) != storage_bytes(tensor))
      return failure("outputs-unreadable", "a kernel's outputs are cut short");
    outputs.push_back(as_stored(tensor, raw.data()));
  }
  return outputs;
} catch (const std::exception& error) {
  return failure("outputs-unreadable", fmt::format("cannot read a kernel's outputs: {}", error.what()));
}

int64_t buffer_bytes(const ir::Program& program) {
  int64_t bytes = 0;
  for (const auto& tensor : program.tensors)
    if (tensor.role == ir::Role::Input || tensor.role == ir::Role::Output) bytes += storage_bytes(tensor);
  return bytes;
}

}  // namespace tile_tune::search
