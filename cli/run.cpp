// tile-tune run: executes a program on .npy files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/binding_options.h"
#include "cli/option_checks.h"
#include "cli/verbs.h"
#include "engine/packages/output_folder.h"
#include "engine/programs/array_sizes.h"
#include "engine/programs/bindings.h"
#include "engine/programs/einsum_argument.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"
#include "engine/run/run_workload.h"
#include "frontend/tensor/npy.h"

namespace tile_tune::cli {

namespace fs = std::filesystem;

namespace {

struct RunOptions {
  std::string program;
  engine::BindingOptions bindings;
  std::vector<std::string> inputs;  // "A=a.npy"
  std::string output_directory;
  std::string engine = "tuned";
  std::string schedule;
};

/// A tensor a caller may give an array for: an input, or the value an in/out output starts from.
struct Slot {
  std::string name;
  DType type;
  bool required;
};

std::vector<Slot> slots_of(const ir::Program& program) {
  std::vector<Slot> slots;
  for (const auto& tensor : program.tensors)
    if (tensor.role == ir::Role::Input || tensor.role == ir::Role::InOut)
      slots.push_back({tensor.name, tensor.type, tensor.role == ir::Role::Input});
  return slots;
}

std::string names_of(const std::vector<Slot>& slots) {
  std::vector<std::string> names;
  for (const auto& slot : slots) names.push_back(slot.name);
  return names.empty() ? "it has no inputs" : fmt::format("its inputs are {}", fmt::join(names, ", "));
}

Result<engine::NamedArrays> read_arrays(const std::string& program, const std::vector<Slot>& slots,
                                        const std::vector<std::string>& inputs) {
  engine::NamedArrays arrays;
  for (const auto& text : inputs) {
    const auto assignment = engine::split_assignment(text);
    if (!assignment)
      return fail(ErrorClass::Program, "bad-input", fmt::format("'{}' is not an input", text),
                  "write --input NAME=FILE.npy");
    const auto& [name, path] = *assignment;
    const auto slot =
        std::find_if(slots.begin(), slots.end(), [&name = name](const Slot& one) { return one.name == name; });
    if (slot == slots.end())
      return fail(ErrorClass::Mismatch, "unknown-input", fmt::format("{} has no input '{}'", program, name),
                  names_of(slots));
    if (arrays.contains(name))
      return fail(ErrorClass::Program, "bad-input", fmt::format("input {} is given twice", name));
    TILE_TUNE_TRY(array, tensor::read_npy_as_stored(path, slot->type));
    arrays.emplace(name, std::move(array));
  }
  for (const auto& slot : slots)
    if (slot.required && !arrays.contains(slot.name))
      return fail(ErrorClass::Mismatch, "missing-input", fmt::format("input {} is missing", slot.name),
                  fmt::format("give it with --input {}=FILE.npy", slot.name));
  return arrays;
}

/// A program and the arrays to run it on.
struct Opened {
  engine::LoadedProgram loaded;
  engine::NamedArrays arrays;
};

/// Of an einsum the arrays come first: they say its types and shapes.
Result<Opened> open(const RunOptions& options, const ir::Sizes& sizes, const engine::Reporter& report) {
  if (!engine::is_einsum(options.program)) {
    TILE_TUNE_TRY(loaded, engine::load_program(options.program, options.bindings, report));
    TILE_TUNE_CHECK(engine::check_size_names({loaded.program}, sizes));
    TILE_TUNE_TRY(arrays, read_arrays(loaded.program.name, slots_of(loaded.program), options.inputs));
    return Opened{std::move(loaded), std::move(arrays)};
  }
  TILE_TUNE_TRY(operands, engine::einsum_operands(options.program, options.bindings));
  std::vector<Slot> slots;
  for (const auto& operand : operands) slots.push_back({operand.name, operand.type, true});
  TILE_TUNE_TRY(arrays, read_arrays("einsum", slots, options.inputs));
  TILE_TUNE_TRY(loaded, engine::load_einsum(options.program, options.bindings, arrays));
  TILE_TUNE_CHECK(engine::check_size_names({loaded.program}, sizes));
  return Opened{std::move(loaded), std::move(arrays)};
}

Result<void> check_output_folder(const ir::Program& program, const fs::path& directory) {
  std::vector<std::string> files;
  for (const int output : program.outputs) files.push_back(program.tensors[static_cast<size_t>(output)].name + ".npy");
  return engine::check_result_files(directory, files);
}

Result<void> write_outputs(const ir::Program& program, const fs::path& directory, const engine::Executed& executed,
                           const Session& session) {
  const auto& outputs = executed.outputs;
  engine::Fresh fresh;
  TILE_TUNE_CHECK(engine::make_folder(directory, fresh));
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& tensor = program.tensors[static_cast<size_t>(program.outputs[i])];
    const fs::path path = directory / (tensor.name + ".npy");
    fresh.expect(path);
    TILE_TUNE_CHECK(tensor::write_npy(path, outputs[i], tensor.storage.is_col()));
    list.push_back({{"name", tensor.name},
                    {"dtype", dtype_name(tensor.type)},
                    {"shape", outputs[i].shape},
                    {"path", path.string()}});
    const std::string shape =
        outputs[i].shape.empty() ? "scalar" : fmt::format("({})", fmt::join(outputs[i].shape, ", "));
    text += fmt::format("{}  {}  {}  {}\n", tensor.name, dtype_name(tensor.type), shape, path.string());
  }
  fresh.keep();
  if (session.output.json)
    return print_json({{"engine", executed.provenance}, {"rung", executed.rung}, {"outputs", list}});
  return print(text);
}

Result<Exit> run(const RunOptions& options, const Session& session) {
  TILE_TUNE_TRY(given, engine::parse_sizes(options.bindings.sizes));
  TILE_TUNE_TRY(opened, open(options, given, session.report));
  auto& [loaded, arrays] = opened;
  TILE_TUNE_TRY(given_storage, engine::with_storage(loaded.program, options.bindings));
  const ir::Program program = engine::with_storage_of(given_storage, arrays, options.bindings.layouts);
  TILE_TUNE_TRY(sizes, engine::infer_sizes(program, arrays, engine::sizes_of(loaded, given)));
  TILE_TUNE_TRY(bound, engine::bind_and_warn(program, sizes, session.report));
  TILE_TUNE_CHECK(check_output_folder(bound, options.output_directory));
  // A database that is named is looked at also where no schedule is asked of it: the name may be a slip.
  const bool asks = options.engine == "tuned" && options.schedule.empty();
  if (!asks && !session.settings.databases.empty()) TILE_TUNE_CHECK(engine::open_stack(session));
  const engine::Workload workload = engine::planned_workload(loaded, bound, sizes, session);
  TILE_TUNE_TRY(executed,
                engine::run_workload(workload, std::move(arrays), {options.engine, options.schedule}, session));
  TILE_TUNE_CHECK(write_outputs(workload.program, options.output_directory, executed, session));
  return Exit::Success;
}

}  // namespace

void add_run(Verb& app, Command& command) {
  auto options = std::make_shared<RunOptions>();
  Verb verb = app.add_verb("run", "Executes a program on .npy files");
  verb.add_option("PROGRAM", options->program, engine::kProgramArgument).required().type_name("");
  verb.add_option("--input", options->inputs, "An input's array, or the value an in/out output starts from; repeatable")
      .type_name("NAME=FILE")
      .one_value_each();
  refuse_empty(verb.add_option("--output-dir", options->output_directory, "Where NAME.npy is written for each output")
                   .required()
                   .type_name("DIR"));
  Option engine = verb.add_option("--engine", options->engine, "reference, default (schedule) or tuned")
                      .type_name("ENGINE")
                      .one_of({"reference", "default", "tuned"})
                      .show_default();
  verb.add_option("--schedule", options->schedule, "A schedule to run with, as JSON")
      .type_name("FILE")
      .excludes(engine);
  add_binding_options(verb, options->bindings);
  verb.on_parsed([&command, options] { command = [options](Session& session) { return run(*options, session); }; });
}

}  // namespace tile_tune::cli
