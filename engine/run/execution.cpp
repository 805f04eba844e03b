#include "engine/run/execution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/ir/index_checks.h"
#include "search/space/checked_schedule.h"
#include "search/workers/workers.h"

namespace tile_tune::engine {

namespace {

constexpr int64_t kSamples = 4096;  // of each output, and its borders: what tuning checks at least

/// Which samples and random inputs are looked at matters to nobody, but two runs should say the same.
constexpr uint64_t kSampleSeed = 1;

/// Large programs take minutes, and nothing waits but the user, who can interrupt.
constexpr double kCompileSeconds = 600;

std::string place_text(const ir::Tensor& tensor, int64_t element) {
  std::vector<int64_t> place;
  const auto shape = ir::shape(tensor);
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
    place.insert(place.begin(), element % *extent);
    element /= *extent;
  }
  return place.empty() ? tensor.name : fmt::format("{}({})", tensor.name, fmt::join(place, ","));
}

Result<void> compare_all(const ir::Program& program, const std::vector<reference::Expected>& expected,
                         const std::vector<tensor::Array>& outputs) {
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const auto one = std::find_if(expected.begin(), expected.end(),
                                  [&](const reference::Expected& e) { return e.tensor == program.outputs[i]; });
    if (one == expected.end()) continue;
    const auto verdict = reference::compare(*one, outputs[i]);
    if (!verdict.mismatch) continue;
    const auto& wrong = *verdict.mismatch;
    const auto& tensor = program.tensors[static_cast<size_t>(wrong.tensor)];
    return fail(
        ErrorClass::Verification, "wrong-result",
        fmt::format(
            "the kernel of {} is wrong: {} is {} instead of {} (tolerance {}), {} of {} checked elements differ",
            program.name, place_text(tensor, wrong.element), wrong.got, wrong.expected, wrong.tolerance, wrong.count,
            one->elements.size()));
  }
  return {};
}

search::WorkerOptions worker_options(const Job& job) {
  search::WorkerOptions options;
  options.command = {job.executable, "worker"};
  options.target = job.target;
  options.limits.build_seconds = kCompileSeconds;
  options.onlooker = job.onlooker;
  return options;
}

/// What the kernel noted of each check is no longer 0 where an index was outside. The reference finds out which.
Result<void> check_noted(const Job& job, const reference::Inputs& inputs, const std::vector<ir::IndexCheck>& checks,
                         const tensor::Array* noted) {
  std::vector<ir::IndexCheck> failed;
  for (size_t i = 0; i < checks.size(); ++i)
    if (std::any_of(noted[i].data.begin(), noted[i].data.end(), [](std::byte byte) { return byte != std::byte{0}; }))
      failed.push_back(checks[i]);
  if (failed.empty()) return {};
  TILE_TUNE_CHECK(reference::check_indices(job.program, inputs, failed));
  // Of an index or a condition made of floats.
  const auto& check = failed.front();
  const auto& tensor = job.program.tensors[static_cast<size_t>(check.tensor)];
  return fail(ErrorClass::Mismatch, "gather-out-of-range",
              fmt::format("index {} leaves dimension {} of {}, whose extent is {}", ir::to_text(job.program, check),
                          check.dimension, tensor.name, ir::extent(tensor, check.dimension)),
              "only by how floats are rounded in the kernel");
}

/// Runs the kernel that also looks at its indices.
Result<std::vector<tensor::Array>> run_checked(const Job& job, const reference::Inputs& inputs) {
  const auto checks = ir::index_checks(job.program);
  if (checks.empty()) return search::run_once(job.program, job.schedule, inputs, worker_options(job));
  const auto program = ir::with_index_checks(job.program);
  const auto schedule = search::with_index_checks(program, job.schedule, job.target);
  TILE_TUNE_TRY(outputs, search::run_once(program, schedule, inputs, worker_options(job)));
  TILE_TUNE_CHECK(check_noted(job, inputs, checks, outputs.data() + job.program.outputs.size()));
  outputs.resize(job.program.outputs.size());
  return outputs;
}

}  // namespace

Result<std::vector<tensor::Array>> execute(const Job& job, const reference::Inputs& inputs) {
  TILE_TUNE_TRY(outputs, run_checked(job, inputs));
  TILE_TUNE_TRY(expected, reference::evaluate_sample(job.program, inputs, kSamples, kSampleSeed,
                                                     reference::OutsideIndices::BecomeNearest));
  TILE_TUNE_CHECK(compare_all(job.program, expected, outputs));
  return outputs;
}

}  // namespace tile_tune::engine
