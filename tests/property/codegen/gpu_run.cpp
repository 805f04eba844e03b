#include "tests/property/codegen/gpu_run.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "Halide.h"
#include "codegen/lower/compile.h"
#include "codegen/lower/guard.h"
#include "codegen/lower/halide_target.h"
#include "codegen/lower/lower.h"
#include "codegen/schedule/check.h"
#include "codegen/schedule/collapsed_form.h"
#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/storage.h"
#include "frontend/reference/reference.h"
#include "frontend/tc/parse.h"

namespace tile_tune::test {
namespace {

constexpr uint64_t kSeed = 7;

template <typename T>
T require(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

Halide::Type halide_type_of(const ir::Program& program, const codegen::Lowered& lowered, int tensor, size_t output) {
  for (const auto& [parameter, number] : lowered.inputs)
    if (number == tensor) return parameter.type();
  (void)program;
  return const_cast<codegen::Lowered&>(lowered).pipeline.outputs()[output].types()[0];
}

// C order alone, whose dimensions are the buffer's backwards; the parts of complex elements first.
Halide::Buffer<> buffer_of(const ir::Tensor& tensor, Halide::Type type, tensor::Array& array) {
  std::vector<int> sizes;
  if (is_complex(tensor.type)) sizes.push_back(2);
  const auto shape = ir::shape(tensor);
  for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) sizes.push_back(static_cast<int>(*extent));
  Halide::Buffer<> buffer(type, array.data.data(), sizes);
  buffer.set_host_dirty();
  return buffer;
}

std::string run(const ir::Program& program, const codegen::Schedule& schedule, const codegen::Target& target,
                const reference::Inputs& inputs) {
  const auto all_expected = require(reference::evaluate(program, inputs, reference::OutsideIndices::BecomeNearest));
  std::map<int, tensor::Array> arrays(inputs.begin(), inputs.end());
  const auto form = schedule.collapsed ? require(codegen::collapsed_form(program, schedule))
                                       : codegen::CollapsedForm{program, schedule};
  codegen::Lowered lowered = codegen::lower(form.program, form.schedule, target, {});
  for (auto& [parameter, tensor] : lowered.inputs)
    parameter.set(buffer_of(form.program.tensors[tensor], parameter.type(), arrays.at(tensor)));
  std::vector<Halide::Buffer<>> outputs;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const int tensor = program.outputs[o];
    arrays[tensor] = tensor::Array::zeros(program.tensors[tensor].type, ir::shape(program.tensors[tensor]));
    for (auto& byte : arrays[tensor].data) byte = std::byte{0xa5};
    const auto type = halide_type_of(program, lowered, -1, o);
    outputs.push_back(buffer_of(form.program.tensors[tensor], type, arrays.at(tensor)));
  }
  lowered.pipeline.realize(Halide::Realization(outputs), codegen::halide_target(target));
  for (auto& output : outputs) output.copy_to_host();
  for (const auto& expected : all_expected) {
    const auto verdict = reference::compare(expected, arrays.at(expected.tensor));
    if (verdict.mismatch)
      return fmt::format("element {} is {} instead of {} +- {}, {} are wrong", verdict.mismatch->element,
                         verdict.mismatch->got, verdict.mismatch->expected, verdict.mismatch->tolerance,
                         verdict.mismatch->count);
  }
  return "";
}

}  // namespace

bool has_opencl() {
  static const bool found = [] {
    void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    using Platforms = int (*)(unsigned, void**, unsigned*);
    const auto platforms = loader ? reinterpret_cast<Platforms>(dlsym(loader, "clGetPlatformIDs")) : nullptr;
    static std::string folder = (std::filesystem::temp_directory_path() / "tile-tune-test-XXXXXX").string();
    if (mkdtemp(folder.data())) {
      setenv("POCL_CACHE_DIR", folder.c_str(), 1);
      std::atexit([] {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
      });
    }
    unsigned count = 0;
    return platforms && platforms(0, nullptr, &count) == 0 && count > 0;
  }();
  return found;
}

ir::Program gpu_program(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = require(tc::parse(text, "test.tc"));
  return ir::canonicalize(require(ir::bind(parsed.programs.at(0), sizes)));
}

codegen::Target opencl_host() {
  const auto host = require(codegen::resolve_target("host", 1));
  return require(codegen::parse_target("host-opencl-cl_doubles", &host));
}

std::string wrong_on_opencl(const ir::Program& program, const codegen::Schedule& schedule) {
  const auto target = opencl_host();
  if (const auto valid = codegen::check_for(target, program, schedule); !valid) return valid.error().message;
  const auto ordinary = reference::random_inputs(program, kSeed, require(reference::finite_range(program, kSeed)));
  std::vector<reference::Inputs> all{ordinary};
  if (auto special = reference::special_inputs(program, ordinary, kSeed)) all.push_back(std::move(*special));
  for (const auto& inputs : all) {
    std::string wrong;
    const auto ran = codegen::guard("running a kernel", [&] { wrong = run(program, schedule, target, inputs); });
    if (!ran) return ran.error().message;
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace tile_tune::test
