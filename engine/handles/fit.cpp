#include <fmt/format.h>
#include <tile_tune/kernel.h>

#include <algorithm>

#include "engine/programs/array_sizes.h"
#include "engine/programs/initial_value.h"
#include "engine/caller/arrays.h"

namespace tile_tune::engine {

namespace {

/// Of which no values of in/out outputs are asked for.
ir::Program without_initial_values(ir::Program program) {
  for (auto& tensor : program.tensors)
    if (tensor.role == ir::Role::InOut) tensor.role = ir::Role::Temporary;
  return program;
}

OutputType output_type(const ir::Program& bound, int number) {
  const ir::Tensor& tensor = bound.tensors[static_cast<size_t>(number)];
  OutputType output{{tensor.type, ir::shape(tensor)}, ""};
  if (const auto initial = bound.initial_value_of(number)) {
    const auto element = initial_element(bound, *initial);
    output.initial.assign(reinterpret_cast<const char*>(element.data()), element.size());
  }
  return output;
}

Result<Fit> fitted(const ir::Program& program, const edsl::Program& source, std::span<const Array> inputs) {
  if (inputs.size() != program.inputs.size())
    return fail(ErrorClass::Mismatch, "array-count",
                fmt::format("{} takes {} inputs, not {}", program.name, program.inputs.size(), inputs.size()));
  Arrays named;
  for (size_t i = 0; i < inputs.size(); ++i)
    named[program.tensors[static_cast<size_t>(program.inputs[i])].name] = inputs[i];
  TILE_TUNE_TRY(described, describe_arrays(without_initial_values(program), named));
  TILE_TUNE_TRY(sizes, infer_sizes(program, described, {}));
  TILE_TUNE_TRY(bound, program.is_bound() ? ir::bind(program, {}) : ir::bind(source.ir_at(sizes), sizes));
  Fit fit{program.is_bound() ? ir::Sizes{} : sizes, {}};
  for (const int number : bound.outputs) fit.outputs.push_back(output_type(bound, number));
  return fit;
}

}  // namespace

std::vector<size_t> size_inputs(const edsl::Program& program) { return size_inputs(program.ir()); }

Expected<Fit> fit(const edsl::Program& program, std::span<const Array> inputs) {
  auto fit = fitted(program.ir(), program, inputs);
  if (!fit) return Error{fit.error().code, fit.error().message, fit.error().note};
  return std::move(*fit);
}

}  // namespace tile_tune::engine
