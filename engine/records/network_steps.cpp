#include "engine/records/network_steps.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "codegen/schedule/check.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/renumber.h"
#include "engine/programs/network_form.h"
#include "frontend/einsum/einsum.h"
#include "frontend/ir/collapsed.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A letter for each index: its own name where all have such names. Empty: there are not so many letters.
std::string letters_of(const ir::Statement& statement) {
  std::string letters;
  for (const auto& index : statement.indices)
    if (index.name.size() == 1 && kLetters.find(index.name) != kLetters.npos) letters += index.name;
  if (std::set<char>(letters.begin(), letters.end()).size() == statement.indices.size()) return letters;
  return std::string(kLetters.substr(0, statement.indices.size() > kLetters.size() ? 0 : statement.indices.size()));
}

std::optional<NetworkStep> step_of(const ir::Program& network, size_t number) {
  const auto& statement = network.statements[number];
  const auto product = product_of(network, statement);
  const std::string letters = letters_of(statement);
  if (!product || statement.previous || letters.empty()) return std::nullopt;
  const auto& target = network.tensors[static_cast<size_t>(statement.target)];
  einsum::Known known;
  known.result = target.type;
  std::string text;
  const auto add = [&](const std::vector<int>& indices) {
    for (const int index : indices) text += letters[static_cast<size_t>(index)];
  };
  for (const auto& factor : product->factors) {
    const auto& tensor = network.tensors[static_cast<size_t>(factor.tensor)];
    known.operands.push_back({tensor.type, ir::shape(tensor)});
    if (&factor != &product->factors.front()) text += ",";
    add(factor.indices);
  }
  text += "->";
  add(product->result);
  const auto notation = einsum::parse(text);
  if (!notation) return std::nullopt;
  auto made = einsum::make_program(*notation, known);
  if (!made || made->program.statements.size() != 1) return std::nullopt;
  auto& program = made->program;
  const auto& alone = program.statements.front();
  if (alone.accumulator != statement.accumulator || alone.value->type != statement.value->type) return std::nullopt;
  const auto store = [&](int tensor, int from) {
    auto& own = program.tensors[static_cast<size_t>(tensor)];
    const auto& other = network.tensors[static_cast<size_t>(from)];
    own.storage = other.storage;
    own.constant = other.constant;
  };
  for (size_t i = 0; i < product->factors.size(); ++i) store(program.inputs[i], product->factors[i].tensor);
  store(program.outputs.front(), statement.target);
  const auto bound = ir::bind(program, made->sizes);
  if (!bound) return std::nullopt;
  LoadedProgram loaded{std::move(program), "einsum", text, std::move(made->sizes)};
  Workload workload = make_workload(loaded, *bound, loaded.sizes);
  return NetworkStep{number, std::move(loaded), std::move(workload)};
}

/// What schedules of the program speak of.
ir::Program form_of(const ir::Program& program, bool is_collapsed) {
  auto collapsed = is_collapsed ? ir::collapsed(program) : std::nullopt;
  return collapsed ? std::move(*collapsed) : program;
}

/// Which loops and operands of the network's statement those of the step are. Nothing where one collapses dimensions
/// that the other does not.
std::optional<codegen::Renumbering> renumbering_of(const NetworkStep& step, bool is_step_collapsed,
                                                   const ir::Program& network, bool is_network_collapsed) {
  const auto program = form_of(step.workload.program, is_step_collapsed);
  const auto& alone = program.statements.front();
  const auto own = codegen::loops_of(program, alone);
  ir::Program lettered = network;
  auto& indices = lettered.statements[step.statement].indices;
  const std::string letters = letters_of(network.statements[step.statement]);
  for (size_t i = 0; i < indices.size(); ++i) indices[i].name = letters[i];
  const auto whole = form_of(lettered, is_network_collapsed);
  const auto& statement = whole.statements[step.statement];
  const auto there = codegen::loops_of(whole, statement);
  if (own.output != there.output || own.reduction.size() != there.reduction.size()) return std::nullopt;
  codegen::Renumbering result{static_cast<int>(own.output.size()), {}, {}};
  for (const int index : own.reduction_index) {
    const auto& name = alone.indices[static_cast<size_t>(index)].name;
    const auto found = std::find_if(there.reduction_index.begin(), there.reduction_index.end(), [&](int other) {
      return statement.indices[static_cast<size_t>(other)].name == name;
    });
    if (found == there.reduction_index.end()) return std::nullopt;
    result.reductions.push_back(static_cast<int>(found - there.reduction_index.begin()));
  }
  for (const auto& operand : own.operands) {
    const auto& inputs = step.loaded.program.inputs;
    const auto& name = program.tensors[static_cast<size_t>(operand.tensor)].name;
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](int input) {
      return step.loaded.program.tensors[static_cast<size_t>(input)].name == name;
    });
    result.operands.push_back(static_cast<int>(found - inputs.begin()));
  }
  return result;
}

/// Whether other stages know how this one's nest looks.
bool is_alone(const codegen::Schedule& schedule, size_t stage) {
  const auto* nest = schedule.stages[stage].find_nest();
  return nest && !nest->compute_at &&
         std::none_of(schedule.stages.begin(), schedule.stages.end(), [&](const codegen::StageSchedule& other) {
           const auto number = static_cast<int>(stage);
           return (other.epilogue() && other.epilogue()->of == number) ||
                  (other.compute_at() && other.compute_at()->statement == number);
         });
}

}  // namespace

std::vector<NetworkStep> steps_of(const ir::Program& network) {
  std::vector<NetworkStep> steps;
  if (network.statements.size() < 2) return steps;
  for (size_t s = 0; s < network.statements.size(); ++s)
    if (auto step = step_of(network, s)) steps.push_back(std::move(*step));
  return steps;
}

Result<std::vector<std::optional<double>>> step_times(const ir::Program& network, const codegen::Target& target,
                                                      std::vector<db::Database>& stack) {
  std::vector<std::optional<double>> times(network.statements.size());
  if (stack.empty()) return times;
  for (const auto& step : steps_of(network)) {
    TILE_TUNE_TRY(record, tuned_record(step.workload, target, stack));
    if (record) times[step.statement] = record->median_ns;
  }
  return times;
}

Result<std::optional<codegen::Schedule>> schedule_of_steps(const Workload& workload, const codegen::Target& target,
                                                           std::vector<db::Database>& stack,
                                                           search::Dimensions dimensions) {
  if (stack.empty()) return std::nullopt;
  const search::Space space(workload.program, target, dimensions);
  const auto standard = space.default_schedule();
  std::map<size_t, codegen::NestSchedule> tuned;  // by statement
  for (const auto& step : steps_of(workload.program)) {
    TILE_TUNE_TRY(record, tuned_record(step.workload, target, stack));
    const auto numbers =
        record ? renumbering_of(step, record->schedule.collapsed, workload.program, standard.collapsed) : std::nullopt;
    const auto* nest = numbers ? record->schedule.stages.front().find_nest() : nullptr;
    if (nest) tuned.emplace(step.statement, codegen::renumbered(*nest, *numbers));
  }
  if (tuned.empty()) return std::nullopt;
  auto schedule = standard;
  const bool is_whole = tuned.size() == schedule.stages.size();
  for (auto& [statement, nest] : tuned)
    if (is_whole || is_alone(standard, statement)) schedule.stages[statement] = std::move(nest);
  // What lists are sorted by is the space's to say.
  schedule = space.adapt(schedule).schedule;
  if (schedule == standard || !codegen::check_for(target, workload.program, schedule)) return std::nullopt;
  return schedule;
}

}  // namespace tile_tune::engine
