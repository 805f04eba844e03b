#include <tile_tune/engine.h>

#include "engine/caller/arrays.h"
#include "engine/handles/handle.h"
#include "engine/records/planned.h"
#include "engine/run/run_workload.h"
#include "engine/sdk/given_program.h"
#include "frontend/ir/index_checks.h"

namespace tile_tune::engine {

namespace {

/// Whether a handle computes the program: not on devices, and not where outputs have to stay as they were if an index
/// turns out to be outside its tensor.
bool runs_here(const ir::Program& bound, const Session& session) {
  return value(session.target()).device == codegen::Device::Cpu && ir::index_checks(bound).empty();
}

Schedule call_kernel(const edsl::Program& program, const ir::Program& bound, const Arrays& arrays,
                     const RunOptions& options) {
  CompileOptions compiling;
  static_cast<Options&>(compiling) = options;
  compiling.schedule = options.schedule;
  compiling.deterministic = options.deterministic;
  const auto raise_error = [](const Error& error) {
    edsl::raise({ErrorClass::Failure, error.code, error.message, {}, error.note});
  };
  std::vector<Array> inputs, outputs;
  for (const int number : bound.inputs) inputs.push_back(arrays.at(bound.tensors[static_cast<size_t>(number)].name));
  for (const int number : bound.outputs) outputs.push_back(arrays.at(bound.tensors[static_cast<size_t>(number)].name));
  const auto kernel = make_handle(program, compiling);
  if (!kernel) raise_error(kernel.error());
  if (const auto called = (*kernel)(inputs, outputs); !called) raise_error(called.error());
  return *kernel->schedule();
}

const char* engine_name(Schedule schedule) {
  switch (schedule) {
    case Schedule::Default:
      return "default";
    case Schedule::Reference:
      return "reference";
    default:
      return "tuned";
  }
}

}  // namespace

Schedule run(const edsl::Program& program, const Arrays& arrays, const RunOptions& options) {
  const auto session = session_of(options, options.deterministic);
  LoadedProgram source{program.ir(), "edsl", program.json()};
  const auto sizes = value(infer_sizes(source.program, value(describe_arrays(source.program, arrays)), {}));
  source.program = with_storage_of(program.ir_at(sizes), arrays);
  const auto bound = value(ir::bind(source.program, sizes));
  value(check_outputs(bound, arrays));
  const EngineChoice engine{engine_name(options.schedule), ""};
  const bool is_here = options.schedule != Schedule::Reference && runs_here(bound, session);
  if (!is_here) tell_all(program, bound, options, session);
  const auto workload = planned_workload(source, bound, sizes, session);
  value(check_runnable(workload.program, engine));
  if (is_here) return call_kernel(program, bound, arrays, options);
  const auto executed = value(run_workload(workload, read_arrays(bound, arrays), engine, session));
  for (size_t i = 0; i < executed.outputs.size(); ++i) {
    const auto& tensor = workload.program.tensors[static_cast<size_t>(workload.program.outputs[i])];
    write_array(executed.outputs[i], arrays.at(tensor.name));
  }
  if (executed.provenance == "reference") return Schedule::Reference;
  return executed.provenance == "tuned" ? Schedule::Tuned : Schedule::Default;
}

}  // namespace tile_tune::engine
