#include "codegen/lower/compile.h"

#include <fmt/format.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "Halide.h"
#include "base/sha256.h"
#include "codegen/backend/kernel_abi.h"
#include "codegen/lower/autoscheduled.h"
#include "codegen/lower/guard.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/kernel_target.h"
#include "codegen/lower/known_shapes.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/packing.h"
#include "codegen/lower/source.h"
#include "codegen/schedule/check.h"
#include "codegen/schedule/collapsed_form.h"
#include "frontend/ir/gather.h"

namespace tile_tune::codegen {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Kernels are made from statements in gather form (ir/gather.h); whoever hands over another gets this error.
Result<void> check_gather_form(const ir::Program& program, const ir::Statement& statement) {
  if (ir::pivots_of(statement)) return {};
  return fail(
      ErrorClass::Program, "unsupported-subscript",
      fmt::format("the statement that writes {} is not in gather form", program.tensors[statement.target].name));
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
                              const std::string& function, bool is_collapsed,
                              const std::vector<Halide::Target::Feature>& features = {}) {
  const auto forms = packed_forms(program, schedule);
  Lowered lowered = lower(program, schedule, target, forms);
  Halide::Target halide = kernel_target(program, forms, target, !schedule.runtime.sizes.empty());
  for (const auto feature : features) halide.set_feature(feature);
  if (schedule.runtime.sizes.empty() && have_known_shapes(program))
    lowered.pipeline.add_custom_lowering_pass(new KnownShapes(is_collapsed));  // which takes it
  Halide::Module module = lowered.pipeline.compile_to_module(lowered.arguments(), function, halide);
  // Packing functions are asked how large a buffer they want.
  halide.set_feature(Halide::Target::NoBoundsQuery, false);
  for (const auto& form : forms) {
    Lowered packing = lower_packing(program, form, target);
    const std::string name = packing_function(function, form.tensor);
    for (const auto& one : packing.pipeline.compile_to_module(packing.arguments(), name, halide).functions())
      module.append(one);
  }
  return module;
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

// What OpenCL leaves to a device to have.
Result<void> check_types(const ir::Program& program, const Target& target) {
  if (!target.features.has(Feature::OpenCl)) return {};
  for (const auto& tensor : program.tensors) {
    const bool is_half = tensor.type == DType::F16;
    const bool is_double = tensor.type == DType::F64 || tensor.type == DType::C64;
    if ((is_half && !target.features.has(Feature::ClHalf)) || (is_double && !target.features.has(Feature::ClDoubles)))
      return fail(ErrorClass::Program, "unsupported-type",
                  fmt::format("{} is of {}, which an OpenCL device has with {} alone", tensor.name,
                              is_half ? "halves" : "doubles", is_half ? "cl_half" : "cl_doubles"));
  }
  return {};
}

Result<void> check_lowerable(const ir::Program& program, const Schedule& schedule, const Target& target) {
  TILE_TUNE_CHECK(check_gather_form(program));
  TILE_TUNE_CHECK(check_types(program, target));
  return check_for(target, program, schedule);
}

Result<std::string> source_text(const ir::Program& program, const Schedule& schedule, const Target& target,
                                std::vector<std::string> remarks) {
  const auto forms = packed_forms(program, schedule);
  const Lowered lowered = lower(program, schedule, target, forms);
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
  for (const auto& [parameter, tensor] : lowered.inputs)
    request.inputs.emplace_back(parameter, program.tensors[tensor].name);
  for (const auto& form : forms)
    request.remarks.push_back(fmt::format("{} is taken packed, as the kernel's packing function leaves it.",
                                          program.tensors[form.tensor].name));
  request.remarks.insert(request.remarks.end(), lowered.remarks.begin(), lowered.remarks.end());
  request.remarks.push_back(
      "Not in it: what is done to the lowered code, which changes no value but by rounding (sums of lanes folded\n"
      "// together, products that several rows share computed once, vectors across memory transposed, vectors\n"
      "// across borders masked).");
  return pipeline_source(request);
}

/// `make` of a program and a schedule that speaks of it as it is, if a kernel can be made of them.
template <typename Make>
auto make_guarded(const char* doing, const ir::Program& program, const Schedule& schedule, const Target& target,
                  Make make) -> decltype(make(program, schedule)) {
  TILE_TUNE_CHECK(check_lowerable(program, schedule, target));
  if (!schedule.collapsed) return guarded(doing, [&] { return make(program, schedule); });
  TILE_TUNE_TRY(form, collapsed_form(program, schedule));
  return guarded(doing, [&] { return make(form.program, form.schedule); });
}

}  // namespace

Result<Compiled> compile_object(const ir::Program& program, const Schedule& schedule, const Target& target,
                                const std::string& function, const std::filesystem::path& object) {
  return make_guarded("compiling a kernel", program, schedule, target, [&](const auto& form, const auto& own) {
    return compile([&] { return lowered_module(form, own, target, function, schedule.collapsed); }, object);
  });
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
  return make_guarded(
      "lowering a kernel", program, schedule, target, [&](const auto& form, const auto& own) -> Result<std::string> {
        std::ostringstream text;
        const auto module =
            lowered_module(form, own, target, form.name, schedule.collapsed, {Halide::Target::NoAsserts});
        text << module.functions().front().body;
        return text.str();
      });
}

Result<std::string> halide_source(const ir::Program& program, const Schedule& schedule, const Target& target,
                                  std::vector<std::string> remarks) {
  if (schedule.collapsed)
    remarks.emplace_back("Dimensions that lie as one in every tensor are one here, named after all of them.");
  return make_guarded("writing a schedule", program, schedule, target, [&](const auto& form, const auto& own) {
    return source_text(form, own, target, std::move(remarks));
  });
}

Result<std::string> kernel_assembly(const ir::Program& program, const Schedule& schedule, const Target& target,
                                    const std::filesystem::path& directory) {
  const auto assembly_of = [&](const ir::Program& form, const Schedule& own) -> Result<std::string> {
    const auto module = lowered_module(form, own, target, form.name, schedule.collapsed, {Halide::Target::NoAsserts});
    const auto path = directory / "kernel.s";
    module.compile({{Halide::OutputFileType::assembly, path.string()}});
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return text.str();
  };
  return make_guarded("compiling a kernel", program, schedule, target, assembly_of);
}

Result<std::string> device_code(const ir::Program& program, const Schedule& schedule, const Target& target) {
  const auto code_of = [&](const ir::Program& form, const Schedule& own) -> Result<std::string> {
    std::string code;
    const auto module = lowered_module(form, own, target, form.name, schedule.collapsed);
    for (const auto& buffer : module.buffers()) {
      constexpr std::string_view kSuffix = "gpu_source_kernels";  // what Halide 21 calls it
      if (!buffer.name().ends_with(kSuffix)) continue;
      const std::string text(static_cast<const char*>(buffer.data()), buffer.size_in_bytes());
      code += text.substr(0, text.find('\0'));
    }
    return code;
  };
  return make_guarded("compiling a kernel", program, schedule, target, code_of);
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
