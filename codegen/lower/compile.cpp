#include "codegen/lower/compile.h"

#include <fmt/format.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "Halide.h"
#include "codegen/lower/expression.h"
#include "codegen/lower/stage.h"
#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Halide::Error is no std::exception; whatever a call into Halide throws becomes a Diagnostic here and nowhere else.
template <typename Call>
auto guarded(const char* doing, Call&& call) -> decltype(call()) {
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

// What this version's lowering does not cover is refused before anything is built.
Result<void> check_supported(const ir::Program& program) {
  for (const auto& tensor : program.tensors)
    if (is_complex(tensor.type))
      return fail(ErrorClass::Program, "unsupported-complex",
                  fmt::format("{} is complex: kernels for complex tensors are not supported", tensor.name));
  for (const auto& statement : program.statements) {
    std::vector<int> seen;
    for (const auto& subscript : statement.subscripts) {
      const bool plain = subscript.terms.size() == 1 && subscript.terms[0].second == 1 && subscript.denominator == 1;
      if (!plain || std::find(seen.begin(), seen.end(), subscript.terms[0].first) != seen.end())
        return fail(ErrorClass::Program, "unsupported-subscript",
                    fmt::format("a subscript on the left of {} is not a single index: kernels for it are not supported",
                                program.tensors[statement.target].name));
      seen.push_back(subscript.terms[0].first);
    }
  }
  return {};
}

void describe_buffer(Halide::OutputImageParam parameter, const ir::Tensor& tensor) {
  auto by_dimension = strides(tensor);
  auto extents = ir::shape(tensor);
  if (tensor.layout == ir::Layout::Row) {
    std::reverse(by_dimension.begin(), by_dimension.end());
    std::reverse(extents.begin(), extents.end());
  }
  for (size_t d = 0; d < extents.size(); ++d)
    parameter.dim(d).set_bounds(0, static_cast<int>(extents[d])).set_stride(static_cast<int>(by_dimension[d]));
}

// The Func that expressions read an in/out output's initial value from: a copy, since the output's buffer, which
// may be the same one, is written while other elements are still to be read.
Halide::Func copy_of(const Halide::ImageParam& parameter, const std::string& name, int dimensions) {
  std::vector<Halide::Var> vars;
  for (int d = 0; d < dimensions; ++d) vars.push_back(Halide::Var(fmt::format("{}_v{}", name, d)));
  Halide::Func copy(name);
  std::vector<Halide::Expr> arguments(vars.begin(), vars.end());
  copy(vars) = parameter(arguments);
  copy.compute_root();
  return copy;
}

bool reads(const ir::Program& program, int tensor) {
  bool found = false;
  for (const auto& statement : program.statements)
    ir::for_each_read(*statement.value, [&](const ir::Read& read) { found |= read.tensor == tensor; });
  return found;
}

struct Lowered {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
};

Lowered lower(const ir::Program& program, const Schedule& schedule, const Target& target) {
  Lowered lowered;
  TensorFuncs values, initial;  // what expressions read; what statements start from
  std::vector<Halide::ImageParam> parameters;
  for (const int number : kernel_arguments(program)) {
    const auto& tensor = program.tensors[number];
    if (tensor.role == ir::Role::Output) continue;
    Halide::ImageParam parameter(halide_type(tensor.type), static_cast<int>(tensor.extents.size()),
                                 fmt::format("tensor{}", number));
    describe_buffer(parameter, tensor);
    lowered.arguments.push_back(parameter);
    initial[number] = parameter;
    values[number] =
        tensor.role == ir::Role::InOut && reads(program, number)
            ? copy_of(parameter, fmt::format("tensor{}_copy", number), static_cast<int>(tensor.extents.size()))
            : Halide::Func(parameter);
  }
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    TensorFuncs tensors = values;
    if (statement.previous && initial.count(*statement.previous) && updates_in_place(program, statement) &&
        !reads(program, *statement.previous))
      tensors[*statement.previous] = initial[*statement.previous];
    Stage stage = make_stage(program, static_cast<int>(s), schedule.stages[s], tensors);
    apply(schedule.stages[s], stage, target, program.tensors[statement.target].role == ir::Role::Output);
    values[statement.target] = stage.result;
  }
  std::vector<Halide::Func> outputs;
  for (const int number : program.outputs) {
    describe_buffer(values[number].output_buffer(), program.tensors[number]);
    outputs.push_back(values[number]);
  }
  lowered.pipeline = Halide::Pipeline(outputs);
  return lowered;
}

Halide::Target kernel_target(const ir::Program& program, const Target& target) {
  Halide::Target halide(target.halide);
  halide.set_feature(Halide::Target::NoRuntime);
  for (const auto& tensor : program.tensors)
    if (ir::element_count(tensor) * static_cast<int64_t>(dtype_size(tensor.type)) > INT32_MAX)
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

}  // namespace

std::vector<int> kernel_arguments(const ir::Program& program) {
  std::vector<int> result = program.inputs;
  for (const int output : program.outputs)
    if (const auto initial = program.initial_value_of(output)) result.push_back(*initial);
  result.insert(result.end(), program.outputs.begin(), program.outputs.end());
  return result;
}

Result<Compiled> compile_object(const ir::Program& program, const Schedule& schedule, const Target& target,
                                const std::string& function, const std::filesystem::path& object) {
  TILE_TUNE_CHECK(check_supported(program));
  TILE_TUNE_CHECK(check(program, schedule));
  return guarded("compiling a kernel", [&]() -> Result<Compiled> {
    Compiled compiled;
    const auto start = Clock::now();
    Lowered lowered = lower(program, schedule, target);
    const Halide::Module module =
        lowered.pipeline.compile_to_module(lowered.arguments, function, kernel_target(program, target));
    std::ostringstream text;
    text << module;
    compiled.code_hash = ir::sha256_hex(text.str());
    compiled.lower_ms = milliseconds_since(start);
    const auto generate = Clock::now();
    TILE_TUNE_CHECK(write_object(module, object));
    compiled.compile_ms = milliseconds_since(generate);
    return compiled;
  });
}

Result<void> compile_runtime(const Target& target, const std::filesystem::path& object) {
  return guarded("compiling the runtime", [&]() -> Result<void> {
    // What Halide::compile_standalone_runtime does: a module without functions brings the whole runtime.
    return write_object(Halide::Module("standalone_runtime", Halide::Target(target.halide)), object);
  });
}

}  // namespace tile_tune::codegen
