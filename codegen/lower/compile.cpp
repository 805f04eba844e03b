#include "codegen/lower/compile.h"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "Halide.h"
#include "base/sha256.h"
#include "codegen/lower/autoscheduled_pipeline.h"
#include "codegen/lower/expression.h"
#include "codegen/lower/folds.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/known_poles.h"
#include "codegen/lower/padded_inputs.h"
#include "codegen/lower/shared_factors.h"
#include "codegen/lower/source.h"
#include "codegen/lower/stage.h"
#include "codegen/lower/statements.h"
#include "codegen/lower/tuple_stores.h"
#include "codegen/schedule/check.h"
#include "codegen/schedule/order.h"
#include "frontend/ir/gather.h"

namespace tile_tune::codegen {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Halide prints its warnings: that a CPU has no instructions for halves, which is what our own conversions are for.
class WithoutWarnings : public Halide::CompileTimeErrorReporter {
 public:
  static void install() {
    static WithoutWarnings reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
  }

 private:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

// Halide::Error is no std::exception; whatever a call into Halide throws becomes a Diagnostic here and nowhere else.
template <typename Call>
auto guarded(const char* doing, Call&& call) -> decltype(call()) {
  WithoutWarnings::install();
  try {
    return call();
  } catch (const Halide::Error& error) {
    std::string text = error.what();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return failure("compiler-error", fmt::format("the compiler failed while {}: {}", doing, text));
  } catch (const std::exception& error) {
    return failure("compiler-error", fmt::format("the compiler failed while {}: {}", doing, error.what()));
  }
}

// Kernels are made from statements in gather form (ir/gather.h); whoever hands over another gets this error.
Result<void> check_gather_form(const ir::Program& program, const ir::Statement& statement) {
  if (ir::pivots_of(statement)) return {};
  return fail(
      ErrorClass::Program, "unsupported-subscript",
      fmt::format("the statement that writes {} is not in gather form", program.tensors[statement.target].name));
}

// Extents of a buffer, the fastest dimension first. The real and imaginary parts of complex elements lie side by side:
// a first dimension of two.
std::vector<int64_t> extents_in_memory(const ir::Tensor& tensor) {
  auto extents = ir::shape(tensor);
  if (tensor.layout == ir::Layout::Row) std::reverse(extents.begin(), extents.end());
  if (is_complex(tensor.type)) extents.insert(extents.begin(), 2);
  return extents;
}

Halide::Region bounds_in_memory(const ir::Tensor& tensor) {
  Halide::Region region;
  for (const int64_t extent : extents_in_memory(tensor)) region.push_back({0, static_cast<int>(extent)});
  return region;
}

void describe_buffer(Halide::OutputImageParam parameter, const ir::Tensor& tensor) {
  auto by_dimension = strides(tensor);
  if (tensor.layout == ir::Layout::Row) std::reverse(by_dimension.begin(), by_dimension.end());
  const int parts = is_complex(tensor.type) ? 2 : 1;
  for (auto& stride : by_dimension) stride *= parts;
  if (parts == 2) by_dimension.insert(by_dimension.begin(), 1);
  const auto extents = extents_in_memory(tensor);
  for (size_t d = 0; d < extents.size(); ++d)
    parameter.dim(d).set_bounds(0, static_cast<int>(extents[d])).set_stride(static_cast<int>(by_dimension[d]));
}

std::vector<Halide::Var> vars_named(const std::string& name, size_t count) {
  std::vector<Halide::Var> vars;
  for (size_t d = 0; d < count; ++d) vars.push_back(Halide::Var(fmt::format("{}_v{}", name, d)));
  return vars;
}

void describe_buffer(Halide::OutputImageParam parameter, const PackedForm& form) {
  int64_t stride = 1;
  for (size_t d = 0; d < form.extents.size(); ++d) {
    parameter.dim(d).set_bounds(0, static_cast<int>(form.extents[d])).set_stride(static_cast<int>(stride));
    stride *= form.extents[d];
  }
}

// The elements of a parameter as a Func.
Halide::Func elements_of(const Halide::ImageParam& parameter, const ir::Tensor& tensor, const std::string& name) {
  if (!is_complex(tensor.type)) return parameter;
  Halide::Func func(name);
  const auto vars = vars_named(name, tensor.extents.size());
  std::vector<Halide::Expr> real{0}, imaginary{1};
  real.insert(real.end(), vars.begin(), vars.end());
  imaginary.insert(imaginary.end(), vars.begin(), vars.end());
  define(func, vars, {parameter(real), parameter(imaginary)});
  return func;
}

// The Func that expressions read an in/out output's initial value from: a copy, since the output's buffer, which
// may be the same one, is written while other elements are still to be read.
Halide::Func copy_of(const Halide::Func& elements, const std::string& name, size_t dimensions) {
  const auto vars = vars_named(name, dimensions);
  Halide::Func copy(name);
  define(copy, vars, at(elements, vars));
  return copy;
}

// What is written to the output's buffer: complex elements with their parts side by side.
Halide::Func in_memory(const Halide::Func& elements, const ir::Tensor& tensor) {
  if (!is_complex(tensor.type)) return elements;
  const std::string name = elements.name() + "_interleaved";
  const auto vars = vars_named(name, tensor.extents.size());
  const Halide::Var part(name + "_part");
  const Values parts = at(elements, vars);
  Halide::Func interleaved(name);
  std::vector<Halide::Var> all{part};
  all.insert(all.end(), vars.begin(), vars.end());
  interleaved(all) = Halide::mux(part, parts);
  return interleaved;
}

void schedule_interleaving(Halide::Func& interleaved, const Target& target) {
  const auto vars = interleaved.args();  // the parts first
  interleaved.bound(vars.front(), 0, 2).unroll(vars.front());
  if (vars.size() == 1) return;
  const int lanes = target.vector_bytes / interleaved.types()[0].bytes();
  interleaved.vectorize(vars[1], lanes, Halide::TailStrategy::GuardWithIf);
  if (vars.size() > 2) interleaved.parallel(vars.back());
}

// Halide takes loads from a Func for aligned like its own allocations, also where the Func is an output and its buffer
// the caller's, which may begin anywhere (21.0, CodeGen_LLVM::codegen_dense_vector_load): a later statement that reads
// an output died of its aligned loads.
class CallersAlignment : public Halide::Internal::IRMutator {
 public:
  explicit CallersAlignment(std::set<std::string> outputs) : outputs_(std::move(outputs)) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Load* load) override {
    if (!outputs_.count(load->name)) return IRMutator::visit(load);
    return Halide::Internal::Load::make(load->type, load->name, mutate(load->index), load->image, load->param,
                                        mutate(load->predicate), Halide::Internal::ModulusRemainder());
  }

  std::set<std::string> outputs_;
};

struct Lowered {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  std::vector<std::pair<Halide::ImageParam, int>> parameters = {};  // the same, and which tensors they are
  std::vector<std::string> remarks = {};  // what the Halide source of the pipeline lacks, a sentence each
};

Halide::ImageParam parameter_of(const ir::Tensor& tensor, const std::string& name, bool has_numbers = true) {
  const int parts = is_complex(tensor.type) ? 1 : 0;
  Halide::ImageParam parameter(halide_type(tensor.type), static_cast<int>(tensor.extents.size()) + parts, name);
  if (has_numbers) describe_buffer(parameter, tensor);
  return parameter;
}

// The fastest first. A dimension that a size is read off has no extent to be checked against.
void describe_buffer(Halide::OutputImageParam parameter, const ir::Program& program, int number,
                     const RuntimeProgram& runtime, const RuntimeSizes& sizes) {
  const auto& tensor = program.tensors[number];
  std::vector<int> dimensions(tensor.extents.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  if (tensor.layout == ir::Layout::Row) std::reverse(dimensions.begin(), dimensions.end());
  const int parts = is_complex(tensor.type) ? 1 : 0;
  if (parts == 1) parameter.dim(0).set_bounds(0, 2).set_stride(1);
  Halide::Expr stride = parts + 1;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    auto dimension = parameter.dim(static_cast<int>(d) + parts);
    const bool is_source = std::any_of(sizes.sizes.begin(), sizes.sizes.end(), [&](const RuntimeSize& size) {
      return size.tensor == number && size.dimension == dimensions[d];
    });
    const Halide::Expr extent = runtime.extent(number, static_cast<size_t>(dimensions[d]));
    dimension.set_min(0).set_stride(stride);
    if (!is_source) dimension.set_extent(extent);
    stride = Halide::Internal::simplify(stride * extent);
  }
}

Halide::Expr size_of_buffer(const Halide::ImageParam& parameter, const ir::Tensor& tensor, int dimension) {
  const int rank = static_cast<int>(tensor.extents.size());
  const int place = tensor.layout == ir::Layout::Row ? rank - 1 - dimension : dimension;
  return parameter.dim(place + (is_complex(tensor.type) ? 1 : 0)).extent();
}

Lowered lower_packing(const ir::Program& program, const PackedForm& form, const Target& target) {
  const auto parameter = parameter_of(program.tensors[form.tensor], parameter_name(form.tensor));
  Halide::Func packed = packing_func(program, form, parameter, target);
  describe_buffer(packed.output_buffer(), form);
  return {Halide::Pipeline(packed), {parameter}};
}

// Without a schedule no Func is scheduled, and what the pipeline reads and writes carries estimates of its extents.
Lowered lower(const ir::Program& program, const Schedule* schedule, const Target& target,
              const std::vector<PackedForm>& forms) {
  Lowered lowered;
  TensorFuncs values, initial;  // what expressions read; what statements start from
  std::map<int, Halide::ImageParam> parameters;
  for (const int number : kernel_arguments(program)) {
    const auto& tensor = program.tensors[number];
    if (tensor.role == ir::Role::Output) continue;
    const std::string name = parameter_name(number);
    const size_t rank = tensor.extents.size();
    const auto form = std::find_if(forms.begin(), forms.end(), [&](const auto& one) { return one.tensor == number; });
    if (form != forms.end()) {
      Halide::ImageParam packed(halide_type(form->type), static_cast<int>(form->extents.size()), name);
      describe_buffer(packed, *form);
      lowered.arguments.push_back(packed);
      lowered.parameters.emplace_back(packed, number);
      values[number] = packed;
      continue;
    }
    Halide::ImageParam parameter = parameter_of(tensor, name, schedule == nullptr || schedule->runtime.sizes.empty());
    parameters[number] = parameter;
    if (!schedule) parameter.set_estimates(bounds_in_memory(tensor));
    lowered.arguments.push_back(parameter);
    lowered.parameters.emplace_back(parameter, number);
    initial[number] = elements_of(parameter, tensor, name + "_elements");
    values[number] = initial[number];
    if (tensor.role != ir::Role::InOut || !reads(program, number)) continue;
    values[number] = copy_of(initial[number], name + "_copy", rank);
    if (schedule) values[number].compute_root();
  }
  std::optional<RuntimeProgram> runtime;
  if (schedule && !schedule->runtime.sizes.empty()) {
    std::vector<Halide::Expr> sizes;
    for (const auto& size : schedule->runtime.sizes)
      sizes.push_back(size_of_buffer(parameters.at(size.tensor), program.tensors[size.tensor], size.dimension));
    runtime.emplace(program, schedule->runtime, std::move(sizes));
    for (const auto& [number, parameter] : parameters)
      describe_buffer(parameter, program, number, *runtime, schedule->runtime);
  }
  LeftToPasses left;
  if (schedule)
    left = lower_statements(program, *schedule, target, forms, runtime ? &*runtime : nullptr, initial, values);
  else
    lower_unscheduled(program, initial, values);
  std::vector<Halide::Func> outputs;
  for (const int number : program.outputs) {
    const auto& tensor = program.tensors[number];
    outputs.push_back(in_memory(values[number], tensor));
    if (runtime)
      describe_buffer(outputs.back().output_buffer(), program, number, *runtime, schedule->runtime);
    else
      describe_buffer(outputs.back().output_buffer(), tensor);
    if (!schedule)
      outputs.back().set_estimates(bounds_in_memory(tensor));
    else if (is_complex(tensor.type))
      schedule_interleaving(outputs.back(), target);
  }
  lowered.pipeline = Halide::Pipeline(outputs);
  std::set<std::string> names;
  for (const auto& output : outputs) names.insert(output.name());
  lowered.pipeline.add_custom_lowering_pass(new CallersAlignment(std::move(names)));
  lowered.pipeline.add_custom_lowering_pass(new TupleStores());
  if (schedule) {
    lowered.pipeline.add_custom_lowering_pass(new SharedFactors());
    lowered.pipeline.add_custom_lowering_pass(new FoldsTogether());
  }
  lowered.pipeline.add_custom_lowering_pass(new functions::RareCases(halide_target(target)));
  for (auto& [pass, remark] : left.passes) {
    lowered.remarks.emplace_back(remark);
    lowered.pipeline.add_custom_lowering_pass(pass.release());
  }
  if (!left.in_turn.empty()) lowered.pipeline.add_custom_lowering_pass(new LoopsInTurn(std::move(left.in_turn)));
  return lowered;
}

// How large the buffers of a kernel with runtime sizes are is not known here.
Halide::Target kernel_target(const ir::Program& program, const std::vector<PackedForm>& forms, const Target& target,
                             bool has_runtime_sizes = false) {
  Halide::Target halide = halide_target(target);
  halide.set_feature(Halide::Target::NoRuntime);
  if (has_known_pole(program)) halide.set_feature(Halide::Target::StrictFloat);
  for (const auto& form : forms)
    if (form.bytes() > INT32_MAX) halide.set_feature(Halide::Target::LargeBuffers);
  for (const auto& tensor : program.tensors)
    if (has_runtime_sizes || ir::element_count(tensor) * static_cast<int64_t>(dtype_size(tensor.type)) > INT32_MAX)
      halide.set_feature(Halide::Target::LargeBuffers);
  return halide;
}

// Through memory: when it writes files itself, Halide makes a folder in /tmp, whatever TMPDIR says, which stays there
// if the process is killed, and it aborts on a full disk.
Result<void> write_object(const Halide::Module& module, const std::filesystem::path& object) {
  const auto bytes = module.compile_to_buffer();
  std::ofstream file(object, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size_in_bytes()));
  file.close();
  if (file) return {};
  return failure("cannot-write", fmt::format("cannot write {}: {}", object.string(), std::strerror(errno)));
}

Halide::Module lowered_module(const ir::Program& program, const Schedule& schedule, const Target& target,
                              const std::string& function, const std::vector<Halide::Target::Feature>& features = {}) {
  const auto forms = packed_forms(program, schedule);
  Lowered lowered = lower(program, &schedule, target, forms);
  Halide::Target halide = kernel_target(program, forms, target, !schedule.runtime.sizes.empty());
  for (const auto feature : features) halide.set_feature(feature);
  Halide::Module module = lowered.pipeline.compile_to_module(lowered.arguments, function, halide);
  for (const auto& form : forms) {
    Lowered packing = lower_packing(program, form, target);
    const std::string name = packing_function(function, form.tensor);
    for (const auto& one : packing.pipeline.compile_to_module(packing.arguments, name, halide).functions())
      module.append(one);
  }
  return module;
}

Halide::Module autoscheduled_module(const ir::Program& program, AutoScheduler scheduler, const Target& target,
                                    const std::string& function) {
  Lowered lowered = lower(with_padded_inputs(program), nullptr, target, {});
  const Halide::Target halide = kernel_target(program, {}, target);
  schedule_automatically(lowered.pipeline, scheduler, halide, target);
  return lowered.pipeline.compile_to_module(lowered.arguments, function, halide);
}

template <typename Lower>
Result<Compiled> compile(Lower lower_to_module, const std::filesystem::path& object) {
  Compiled compiled;
  const auto start = Clock::now();
  const Halide::Module module = lower_to_module();
  std::ostringstream text;
  text << module;
  compiled.code_hash = base::sha256_hex(text.str());
  compiled.lower_ms = milliseconds_since(start);
  const auto generate = Clock::now();
  TILE_TUNE_CHECK(write_object(module, object));
  compiled.compile_ms = milliseconds_since(generate);
  return compiled;
}

Result<void> check_gather_form(const ir::Program& program) {
  for (const auto& statement : program.statements) TILE_TUNE_CHECK(check_gather_form(program, statement));
  return {};
}

Result<void> check_lowerable(const ir::Program& program, const Schedule& schedule, const Target& target) {
  TILE_TUNE_CHECK(check_gather_form(program));
  return check_for(target, program, schedule);
}

}  // namespace

Result<void> check_for(const Target& target, const ir::Program& program, const Schedule& schedule) {
  TILE_TUNE_CHECK(check(program, schedule));
  return target.deterministic ? check_order(program, schedule) : Result<void>();
}

std::vector<int> kernel_arguments(const ir::Program& program) {
  std::vector<int> result = program.inputs;
  for (const int output : program.outputs)
    if (const auto initial = program.initial_value_of(output)) result.push_back(*initial);
  result.insert(result.end(), program.outputs.begin(), program.outputs.end());
  return result;
}

std::string packing_function(const std::string& function, int tensor) {
  return fmt::format("{}_pack{}", function, tensor);
}

Result<Compiled> compile_object(const ir::Program& program, const Schedule& schedule, const Target& target,
                                const std::string& function, const std::filesystem::path& object) {
  TILE_TUNE_CHECK(check_lowerable(program, schedule, target));
  return guarded("compiling a kernel",
                 [&] { return compile([&] { return lowered_module(program, schedule, target, function); }, object); });
}

Result<Compiled> compile_autoscheduled(const ir::Program& program, AutoScheduler scheduler, const Target& target,
                                       const std::string& function, const std::filesystem::path& object) {
  TILE_TUNE_CHECK(check_gather_form(program));
  // Their last tiles are shifted inwards, and would add to elements that were added to before.
  for (const auto& tensor : program.tensors)
    if (tensor.role == ir::Role::InOut)
      return failure("not-autoscheduled", "automatic schedulers know no output that starts from its own buffer");
  return guarded("scheduling a kernel automatically", [&] {
    return compile([&] { return autoscheduled_module(program, scheduler, target, function); }, object);
  });
}

Result<std::string> lowered_loops(const ir::Program& program, const Schedule& schedule, const Target& target) {
  TILE_TUNE_CHECK(check_lowerable(program, schedule, target));
  return guarded("lowering a kernel", [&]() -> Result<std::string> {
    std::ostringstream text;
    const auto module = lowered_module(program, schedule, target, program.name,
                                       {Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery});
    text << module.functions().front().body;
    return text.str();
  });
}

Result<std::string> halide_source(const ir::Program& program, const Schedule& schedule, const Target& target,
                                  std::vector<std::string> remarks) {
  TILE_TUNE_CHECK(check_lowerable(program, schedule, target));
  return guarded("writing a schedule", [&]() -> Result<std::string> {
    const auto forms = packed_forms(program, schedule);
    const Lowered lowered = lower(program, &schedule, target, forms);
    SourceRequest request{
        program.name, std::move(remarks), lowered.pipeline.outputs(), {}, kernel_target(program, forms, target)};
    for (size_t s = 0; s < program.statements.size(); ++s) {
      const auto& statement = program.statements[s];
      const auto loops = loops_of(program, statement);
      for (size_t p = 0; p < loops.output_index.size(); ++p)
        request.names.emplace_back(fmt::format("stage{}_v{}", s, p),
                                   statement.indices[static_cast<size_t>(loops.output_index[p])].name);
      for (const auto& operand : loops.operands)
        request.names.emplace_back(fmt::format("stage{}_pack{}", s, operand.number),
                                   program.tensors[static_cast<size_t>(operand.tensor)].name + "_packed");
      request.names.emplace_back(fmt::format("stage{}", s), program.tensors[statement.target].name);
    }
    for (const auto& [parameter, tensor] : lowered.parameters)
      request.inputs.emplace_back(parameter, program.tensors[tensor].name);
    for (const auto& form : forms)
      request.remarks.push_back(fmt::format("{} is taken packed, as the kernel's packing function leaves it.",
                                            program.tensors[form.tensor].name));
    request.remarks.insert(request.remarks.end(), lowered.remarks.begin(), lowered.remarks.end());
    request.remarks.push_back(
        "Not in it: what is done to the lowered code, which changes no value but by rounding (sums of lanes folded\n"
        "// together, products that several rows share computed once).");
    return pipeline_source(request);
  });
}

Result<std::string> kernel_assembly(const ir::Program& program, const Schedule& schedule, const Target& target,
                                    const std::filesystem::path& directory) {
  TILE_TUNE_CHECK(check_lowerable(program, schedule, target));
  return guarded("compiling a kernel", [&]() -> Result<std::string> {
    const auto module = lowered_module(program, schedule, target, program.name,
                                       {Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery});
    const auto path = directory / "kernel.s";
    module.compile({{Halide::OutputFileType::assembly, path.string()}});
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return text.str();
  });
}

Result<void> compile_runtime(const Target& target, const std::filesystem::path& object) {
  return guarded("compiling the runtime", [&]() -> Result<void> {
    // What Halide::compile_standalone_runtime does: a module without functions brings the whole runtime.
    // Halide's own code for it asks for fast arithmetic, which strict_float refuses; it computes nothing of a kernel's.
    const auto plain = halide_target(target).without_feature(Halide::Target::StrictFloat);
    return write_object(Halide::Module("standalone_runtime", plain), object);
  });
}

}  // namespace tile_tune::codegen
