#include "codegen/lower/arguments.h"

#include <fmt/format.h>
#include <algorithm>

#include "codegen/lower/apply_gpu.h"
#include "codegen/backend/kernel_abi.h"
#include "codegen/lower/expression.h"
#include "codegen/lower/values.h"
#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::Var;

bool is_read(const ir::Program& program, int tensor) {
  bool found = false;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

int leading_dimensions(const ir::Tensor& tensor) { return is_complex(tensor.type) ? 1 : 0; }

std::vector<Var> vars_named(const std::string& name, size_t count) {
  std::vector<Var> vars;
  for (size_t d = 0; d < count; ++d) vars.push_back(Var(fmt::format("{}_v{}", name, d)));
  return vars;
}

// The elements of a parameter as a Func.
Func elements_of(const ImageParam& parameter, const ir::Tensor& tensor, const std::string& name) {
  if (!is_complex(tensor.type)) return parameter;
  Func func(name);
  const auto vars = vars_named(name, tensor.extents.size());
  std::vector<Expr> real{0}, imaginary{1};
  real.insert(real.end(), vars.begin(), vars.end());
  imaginary.insert(imaginary.end(), vars.begin(), vars.end());
  define(func, vars, {parameter(real), parameter(imaginary)});
  return func;
}

// The Func that expressions read an in/out output's initial value from: a copy, since the output's buffer, which
// may be the same one, is written while other elements are still to be read.
Func copy_of(const Func& elements, const std::string& name, size_t dimensions) {
  const auto vars = vars_named(name, dimensions);
  Func copy(name);
  define(copy, vars, at(elements, vars));
  return copy;
}

// What is written to the output's buffer: complex elements with their parts side by side.
Func in_memory(const Func& elements, const ir::Tensor& tensor) {
  if (!is_complex(tensor.type)) return elements;
  const std::string name = elements.name() + "_interleaved";
  const std::vector<Var> vars = elements.args();  // so that a nest of the elements' can be that of both
  const Var part(name + "_part");
  const Values parts = at(elements, vars);
  Func interleaved(name);
  std::vector<Var> all{part};
  all.insert(all.end(), vars.begin(), vars.end());
  interleaved(all) = Halide::mux(part, parts);
  return interleaved;
}

void schedule_interleaving(Func interleaved, bool is_small, const Target& target) {
  const auto vars = interleaved.args();  // the parts first
  interleaved.bound(vars.front(), 0, 2).unroll(vars.front());
  if (target.device == Device::Gpu) return map_elements(interleaved, {vars.begin() + 1, vars.end()});
  if (vars.size() == 1) return;
  const int lanes = target.vector_bytes / interleaved.types()[0].bytes();
  interleaved.vectorize(vars[1], lanes, Halide::TailStrategy::GuardWithIf);
  if (vars.size() > 2 && !is_small) interleaved.parallel(vars.back());
}

std::vector<PackedForm>::const_iterator form_of(const std::vector<PackedForm>& forms, int tensor) {
  return std::find_if(forms.begin(), forms.end(), [&](const auto& one) { return one.tensor == tensor; });
}

// In the buffer's numbers, of which a complex element has two; undefined where only the buffer has it.
Expr given_stride(const ir::Tensor& tensor, int dimension) {
  const auto* elements = std::get_if<int64_t>(&tensor.storage.strides()[static_cast<size_t>(dimension)]);
  return elements ? Expr(static_cast<int>(*elements * (is_complex(tensor.type) ? 2 : 1))) : Expr();
}

// Numbers, where all of them are known.
void describe_at_compile_time(Halide::OutputImageParam& buffer, const ir::Tensor& tensor) {
  const auto in_elements = ir::strides(tensor);
  const int parts = is_complex(tensor.type) ? 2 : 1;
  int d = 0;
  if (parts == 2) buffer.dim(d++).set_bounds(0, 2).set_stride(1);
  for (const int dimension : ir::memory_order(tensor)) {
    const Expr compact = static_cast<int>(in_elements[static_cast<size_t>(dimension)] * parts);
    buffer.dim(d++)
        .set_bounds(0, static_cast<int>(ir::extent(tensor, static_cast<size_t>(dimension))))
        .set_stride(tensor.storage.is_compact() ? compact : given_stride(tensor, dimension));
  }
}

// A dimension that a size is read off has no extent to be checked against.
void describe_at_run_time(Halide::OutputImageParam& buffer, const ir::Program& program, int number,
                          const RuntimeProgram& runtime, const RuntimeSizes& sizes) {
  const auto& tensor = program.tensors[number];
  int d = 0;
  Expr stride = 1;
  if (is_complex(tensor.type)) {
    buffer.dim(d++).set_bounds(0, 2).set_stride(1);
    stride = 2;
  }
  for (const int dimension : ir::memory_order(tensor)) {
    const bool is_source = std::any_of(sizes.sizes.begin(), sizes.sizes.end(), [&](const RuntimeSize& size) {
      return size.tensor == number && size.dimension == dimension;
    });
    const Expr extent = runtime.extent(number, static_cast<size_t>(dimension));
    auto described =
        buffer.dim(d++).set_min(0).set_stride(tensor.storage.is_compact() ? stride : given_stride(tensor, dimension));
    if (!is_source) described.set_extent(extent);
    stride = Halide::Internal::simplify(stride * extent);
  }
}

}  // namespace

std::vector<Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Expr>& subscripts) {
  std::vector<Expr> arguments;
  for (const int dimension : ir::memory_order(tensor)) arguments.push_back(subscripts[static_cast<size_t>(dimension)]);
  return arguments;
}

std::string parameter_name(int tensor) { return "tensor" + std::to_string(tensor); }

ImageParam parameter_of(const ir::Program& program, int number) {
  const auto& tensor = program.tensors[number];
  const int dimensions = static_cast<int>(tensor.extents.size()) + leading_dimensions(tensor);
  return {halide_type(tensor.type), dimensions, parameter_name(number)};
}

Inputs make_inputs(const ir::Program& program, const std::vector<PackedForm>& forms) {
  Inputs inputs;
  for (const int number : kernel_arguments(program)) {
    const auto& tensor = program.tensors[number];
    if (tensor.role == ir::Role::Output) continue;
    const std::string name = parameter_name(number);
    const size_t rank = tensor.extents.size();
    const auto form = form_of(forms, number);
    if (form != forms.end()) {
      const ImageParam packed(halide_type(form->type), static_cast<int>(form->extents.size()), name);
      inputs.parameters.emplace_back(packed, number);
      inputs.readable[number] = packed;
      continue;
    }
    const ImageParam parameter = parameter_of(program, number);
    inputs.parameters.emplace_back(parameter, number);
    inputs.elements[number] = elements_of(parameter, tensor, name + "_elements");
    inputs.readable[number] = inputs.elements[number];
    if (tensor.role != ir::Role::InOut || !is_read(program, number)) continue;
    inputs.readable[number] = copy_of(inputs.elements[number], name + "_copy", rank);
    inputs.copies.push_back(inputs.readable[number]);
  }
  return inputs;
}

Expr size_in(const Inputs& inputs, const ir::Program& program, const RuntimeSize& size) {
  const auto& tensor = program.tensors[size.tensor];
  const auto order = ir::memory_order(tensor);
  const auto place = std::find(order.begin(), order.end(), size.dimension) - order.begin();
  const auto found = std::find_if(inputs.parameters.begin(), inputs.parameters.end(),
                                  [&](const auto& parameter) { return parameter.second == size.tensor; });
  return found->first.dim(static_cast<int>(place) + leading_dimensions(tensor)).extent();
}

std::vector<Func> make_outputs(const ir::Program& program, const TensorFuncs& elements) {
  std::vector<Func> outputs;
  for (const int number : program.outputs) outputs.push_back(in_memory(elements.at(number), program.tensors[number]));
  return outputs;
}

void schedule_interleaving(const ir::Program& program, const std::vector<Func>& outputs,
                           const std::set<std::string>& by_nests, bool sizes_are_known, const Target& target) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& tensor = program.tensors[program.outputs[i]];
    if (!is_complex(tensor.type) || by_nests.count(outputs[i].name()) > 0) continue;
    const int64_t bytes = ir::element_count(tensor) * static_cast<int64_t>(dtype_size(tensor.type));
    schedule_interleaving(outputs[i], sizes_are_known && bytes < costs::kLeastSharedCopy, target);
  }
}

void describe_buffer(Halide::OutputImageParam buffer, const ir::Program& program, int tensor,
                     const RuntimeProgram* runtime, const RuntimeSizes& sizes) {
  if (runtime)
    describe_at_run_time(buffer, program, tensor, *runtime, sizes);
  else
    describe_at_compile_time(buffer, program.tensors[tensor]);
}

void describe_buffer(Halide::OutputImageParam buffer, const PackedForm& form) {
  int64_t stride = 1;
  for (size_t d = 0; d < form.extents.size(); ++d) {
    const int dimension = static_cast<int>(d);
    buffer.dim(dimension).set_bounds(0, static_cast<int>(form.extents[d])).set_stride(static_cast<int>(stride));
    stride *= form.extents[d];
  }
}

void describe_buffers(const ir::Program& program, const Inputs& inputs, std::vector<Func>& outputs,
                      const std::vector<PackedForm>& forms, const RuntimeProgram* runtime, const RuntimeSizes& sizes) {
  for (const auto& [parameter, tensor] : inputs.parameters) {
    const auto form = form_of(forms, tensor);
    if (form != forms.end())
      describe_buffer(parameter, *form);
    else
      describe_buffer(parameter, program, tensor, runtime, sizes);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    describe_buffer(outputs[i].output_buffer(), program, program.outputs[i], runtime, sizes);
}

void align_buffers(const Inputs& inputs, std::vector<Func>& outputs) {
  constexpr int kVectorBytes = 16;
  for (auto [parameter, tensor] : inputs.parameters) parameter.set_host_alignment(kVectorBytes);
  for (auto& output : outputs)
    for (auto& buffer : output.output_buffers()) buffer.set_host_alignment(kVectorBytes);
}

Halide::Region bounds_in_memory(const ir::Tensor& tensor) {
  Halide::Region region;
  if (is_complex(tensor.type)) region.push_back({0, 2});
  for (const int dimension : ir::memory_order(tensor))
    region.push_back({0, static_cast<int>(ir::extent(tensor, static_cast<size_t>(dimension)))});
  return region;
}

}  // namespace tile_tune::codegen
