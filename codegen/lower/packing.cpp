#include "codegen/lower/packing.h"

#include <fmt/format.h>

#include "codegen/lower/arguments.h"
#include "codegen/lower/expression.h"
#include "codegen/lower/packed.h"
#include "codegen/lower/reversed.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

// Makes the copy from the constant's elements.
Func packing_func(const ir::Program& program, const PackedForm& form, const Func& elements, const Target& target) {
  const auto& tensor = program.tensors[form.tensor];
  const std::string name = fmt::format("packed{}", form.tensor);
  std::vector<Var> vars;
  for (size_t d = 0; d < form.extents.size(); ++d) vars.push_back(Var(fmt::format("{}_v{}", name, d)));
  const size_t first = form.dot ? 1 : 0;
  std::vector<Expr> subscripts(tensor.extents.size());
  for (size_t i = 0; i < form.packing.order.size(); ++i) {
    const int d = form.packing.order[i];
    Expr position = vars[first + i];
    if (i == 0 && form.blocks)
      position += vars.back() * static_cast<int>(form.blocks->width) + static_cast<int>(form.blocks->origin);
    if (form.dot && form.dot->dimension == d) position = position * form.dot->width + vars[0];
    // What lies beyond the tensor is never used.
    subscripts[d] = Halide::clamp(Halide::likely(position), 0, static_cast<int>(ir::extent(tensor, d)) - 1);
  }
  Func packed(name);
  define(packed, vars, as_stored(at(elements, buffer_arguments(tensor, subscripts)), tensor.type, form.type));
  for (size_t d = 0; d < vars.size(); ++d) packed.bound(vars[d], 0, static_cast<int>(form.extents[d]));
  const int lanes = target.vector_bytes / packed.types()[0].bytes();
  if (lanes > 1) packed.vectorize(vars[first], lanes, Halide::TailStrategy::GuardWithIf);
  if (form.dot) packed.unroll(vars[0]);
  if (vars.size() > first + 1) packed.parallel(vars.back());
  return packed;
}

}  // namespace

Lowered lower_packing(const ir::Program& program, const PackedForm& form, const Target& target) {
  const auto constant = parameter_of(program, form.tensor);
  const Func packed = packing_func(program, form, constant, target);
  describe_buffer(constant, program, form.tensor);
  describe_buffer(packed.output_buffer(), form);
  Lowered lowered{Halide::Pipeline(packed), {{constant, form.tensor}}};
  const Inputs inputs{.parameters = lowered.inputs, .elements = {}, .readable = {}, .copies = {}};
  if (const auto buffer = reversed_buffer(program, inputs, {}))
    lowered.pipeline.add_custom_lowering_pass(new Reversed(*buffer));
  return lowered;
}

}  // namespace tile_tune::codegen
