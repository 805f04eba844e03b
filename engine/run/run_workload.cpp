#include "engine/run/run_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/schedule/countable.h"
#include "engine/programs/initial_value.h"
#include "engine/programs/memory.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/run/execution.h"
#include "engine/session/plain_onlooker.h"
#include "frontend/ir/storage.h"
#include "frontend/reference/reference.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::engine {

namespace {

/// Elements that strides put in one place have to be equal: which of them a kernel would see is chance.
Result<void> check_repeats(const ir::Program& program, const reference::Inputs& inputs) {
  for (const auto& [number, array] : inputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    if (!ir::has_overlap(ir::strides(tensor), ir::shape(tensor)) || search::lies_as(array, tensor)) continue;
    ir::Tensor apart = tensor;
    apart.storage = ir::Storage();
    std::vector<std::byte> given(static_cast<size_t>(search::storage_bytes(apart)));
    search::to_storage(apart, array, given.data());
    std::vector<std::byte> together(static_cast<size_t>(search::storage_bytes(tensor)));
    search::to_storage(tensor, array, together.data());
    if (search::from_storage(tensor, together.data()).data == given) continue;
    return fail(ErrorClass::Mismatch, "elements-differ",
                fmt::format("elements of {} differ that its layout has in one place", tensor.name),
                "strides of 0, and such by which elements meet, are for values that repeat");
  }
  return {};
}

/// Arrays by tensor number; what in/out outputs start from is filled in where the caller gave nothing.
Result<reference::Inputs> number_arrays(const ir::Program& program, NamedArrays arrays, const Reporter& report) {
  reference::Inputs inputs;
  std::vector<Diagnostic> warnings;
  for (size_t number = 0; number < program.tensors.size(); ++number) {
    const auto& tensor = program.tensors[number];
    if (tensor.role != ir::Role::Input && tensor.role != ir::Role::InOut) continue;
    if (auto array = arrays.extract(tensor.name)) {
      inputs.emplace(static_cast<int>(number), std::move(array.mapped()));
      continue;
    }
    const InitialValue initial = initial_value(program, static_cast<int>(number));
    warnings.push_back(program_warning(
        "no-initial-value",
        fmt::format("{} accumulates onto a value that is not given: it starts from {}", tensor.name, initial.text),
        fmt::format("give one with --input {}=FILE.npy, or write the statement with '!'", tensor.name)));
    inputs.emplace(static_cast<int>(number), initial.array);
  }
  TILE_TUNE_CHECK(report.program_warnings(warnings));
  TILE_TUNE_CHECK(check_repeats(program, inputs));
  return inputs;
}

bool is_reference(const EngineChoice& engine) { return engine.name == "reference" && engine.schedule.empty(); }

/// A given schedule is tried whatever comes out.
bool needs_nothing(const ir::Program& program, const EngineChoice& engine) {
  return engine.schedule.empty() && codegen::computes_nothing(program);
}

/// What there is of outputs without elements.
std::vector<tensor::Array> empty_outputs(const ir::Program& program) {
  std::vector<tensor::Array> outputs;
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    outputs.push_back(tensor::Array::zeros(tensor.type, ir::shape(tensor)));
  }
  return outputs;
}

Result<std::vector<tensor::Array>> run_reference(const ir::Program& program, const reference::Inputs& inputs) {
  TILE_TUNE_CHECK(reference::check_indices(program, inputs, ir::index_checks(program)));
  TILE_TUNE_TRY(expected, reference::evaluate(program, inputs));
  std::vector<tensor::Array> outputs;
  for (const int number : program.outputs) {
    const auto one = std::find_if(expected.begin(), expected.end(), [&](const auto& e) { return e.tensor == number; });
    if (one == expected.end()) return failure("internal", "the reference did not compute every output");
    outputs.push_back(reference::to_array(program, *one));
  }
  return outputs;
}

}  // namespace

Result<Chosen> choose(const EngineChoice& engine, const Workload& workload, const codegen::Target& target,
                      const Session& session) {
  if (!engine.schedule.empty()) {
    TILE_TUNE_TRY(given, given_choice(workload, target, engine.schedule));
    return Chosen{workload, std::move(given)};
  }
  if (engine.name == "default") return Chosen{workload, default_choice(workload, target)};
  TILE_TUNE_TRY(databases, open_stack(session));
  TILE_TUNE_TRY(form, faster_form(workload, target, databases));
  TILE_TUNE_TRY(choice, stored_choice(form, target, databases, session));
  return Chosen{std::move(form), std::move(choice)};
}

Result<void> check_runnable(const ir::Program& program, const EngineChoice& engine) {
  if (is_reference(engine)) return check_memory(program, Use::Reference);
  return needs_nothing(program, engine) ? check_memory(program, Use::Run) : check_size(program, Use::Run);
}

Result<Executed> run_workload(const Workload& workload, NamedArrays arrays, const EngineChoice& engine,
                              const Session& session) {
  TILE_TUNE_CHECK(check_runnable(workload.program, engine));
  if (needs_nothing(workload.program, engine)) {
    TILE_TUNE_CHECK(number_arrays(workload.program, std::move(arrays), session.report));
    const std::string name = engine.name == "reference" ? "reference" : "default";
    return Executed{empty_outputs(workload.program), name, name};
  }
  if (is_reference(engine)) {
    const auto& program = workload.written ? workload.written->program : workload.program;
    TILE_TUNE_TRY(inputs, number_arrays(program, std::move(arrays), session.report));
    TILE_TUNE_TRY(outputs, run_reference(program, inputs));
    return Executed{std::move(outputs), "reference", "reference"};
  }
  TILE_TUNE_TRY(target, session.target());
  TILE_TUNE_TRY(chosen, choose(engine, workload, target, session));
  const auto& [form, choice] = chosen;
  tell_of_steps(form, session.report);
  TILE_TUNE_CHECK(check_memory(form.program, Use::Run));
  TILE_TUNE_TRY(inputs, number_arrays(form.program, std::move(arrays), session.report));
  TILE_TUNE_TRY(
      outputs,
      execute({form.program, choice.schedule, target, session.executable, plain_onlooker(session.report)}, inputs));
  return Executed{std::move(outputs), choice.provenance, choice.rung};
}

}  // namespace tile_tune::engine
