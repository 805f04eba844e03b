// build(), bench() and check() of the SDK.
#include <tile_tune/engine.h>

#include <algorithm>
#include <atomic>

#include "engine/bench/measure.h"
#include "engine/build/package_request.h"
#include "engine/packages/packaging.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/records/workload.h"
#include "engine/sdk/given_program.h"
#include "engine/session/plain_onlooker.h"
#include "frontend/ir/describe.h"

namespace tile_tune::engine {

namespace {

BenchEntry entry_of(const search::Entry& entry, const search::Entry& first, uint64_t seed) {
  BenchEntry result{entry.name, entry.ran() ? "" : entry.reason};
  if (!entry.ran()) return result;
  result.median_ns = search::median(entry.samples_ns);
  if (const auto ratio = search::speed_ratio(entry, first, seed)) {
    result.ratio = ratio->median;
    result.low = ratio->interval.lo;
    result.high = ratio->interval.hi;
  }
  return result;
}

}  // namespace

BuildResult build(const std::vector<edsl::Program>& programs, const BuildOptions& options) {
  const auto session = session_of(options, options.deterministic);
  if (programs.empty()) edsl::raise({ErrorClass::Program, "no-program", "build() is of one program at least"});
  if (options.directory.empty())
    edsl::raise({ErrorClass::Program, "no-directory", "BuildOptions::directory says where the package is written"});
  PackageRequest request;
  request.bindings = bindings_of(options);
  request.directory = options.directory;
  request.name = options.name;
  request.schedule = options.schedule;
  request.recheck = options.recheck;
  request.checked = options.checked;
  for (const auto& program : programs) request.loaded.push_back({program.ir(), "edsl", program.json()});
  const std::atomic<bool> stop = false;
  const auto package = value(package_of(request, session, stop));
  auto files =
      value(package_in_child(package.kernels, package.options, session.executable, plain_onlooker(session.report)));
  BuildResult result{package.options.name, {}, {}};
  for (const auto& kernel : package.kernels) {
    result.kernels.push_back({kernel.function, package.options.target.text(), kernel.rung});
    for (const auto& one : kernel.variants) result.kernels.push_back({kernel.function, one.target.text(), one.rung});
  }
  result.files = std::move(files);
  return result;
}

BenchResult bench(const edsl::Program& program, const BenchOptions& options) {
  const auto session = session_of(options, options.deterministic);
  const auto against = value(baselines_named(options.against));
  const auto given = given_program(program, bindings_of(options));
  const auto bound = value(ir::bind(given.stored, given.sizes));
  tell_all(program, bound, options, session);
  const auto target = value(session.target());
  if (target.device == codegen::Device::Gpu)
    edsl::raise({ErrorClass::Target, "not-on-device", "what bench compares with runs on the CPU"});
  auto databases = value(open_stack(session));
  search::ContestOptions contest_options;
  contest_options.command = {session.executable, "worker"};
  contest_options.target = target;
  contest_options.seed = options.seed;
  contest_options.rounds = options.rounds;
  contest_options.seconds = options.seconds;
  contest_options.onlooker = plain_onlooker(session.report);
  const auto contest = value(search::Contest::start(contest_options));
  const auto row = value(
      measure(given.loaded, bound, given.sizes, {*contest, against, {}, target, session, databases, options.schedule}));
  BenchResult result{{}, row.counted_flops, row.counted_bytes};
  for (const auto& entry : row.result.entries)
    result.entries.push_back(entry_of(entry, row.result.entries.front(), options.seed));
  return result;
}

CheckResult check(const edsl::Program& program, const ProgramOptions& options) {
  const auto session = session_of(options, options.deterministic);
  const auto given = given_program(program, bindings_of(options));
  const bool has_sizes = given.sizes.size() == given.stored.sizes.size();
  const ir::Program shown = has_sizes ? value(ir::bind(given.stored, given.sizes)) : given.stored;
  tell_all(program, shown, options, session);
  CheckResult result;
  result.signature = ir::signature(given.loaded.program);
  result.has_sizes = has_sizes;
  for (const auto& statement : shown.statements) result.statements.push_back(ir::to_text(shown, statement));
  for (const int number : shown.outputs) {
    const ir::Tensor& tensor = shown.tensors[static_cast<size_t>(number)];
    result.outputs.push_back({tensor.name, tensor.type, has_sizes ? ir::shape(tensor) : std::vector<int64_t>(),
                              shown.initial_value_of(number).has_value()});
  }
  if (!has_sizes) return result;
  value(check_extents(shown));
  const auto steps = workload_in_steps(given.loaded, shown, session);
  const auto traffic = ir::traffic(shown);
  result.flops = steps ? steps->row.flops : ir::flops(shown);
  result.bytes_read = traffic.read;
  result.bytes_written = traffic.written;
  if (steps) result.steps = steps_text(*steps);
  result.unfactored = unfactored_texts(shown, steps);
  return result;
}

}  // namespace tile_tune::engine
