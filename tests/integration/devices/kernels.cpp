#include "tests/integration/devices/kernels.h"

#include <Halide.h>

#include "search/judge/kernel_arguments.h"

using namespace Halide;

namespace tile_tune::test {
namespace {

struct Kernel {
  Func output;
  std::vector<Argument> arguments;
};

Kernel accumulating() {
  const Var x("x"), xb("xb"), xt("xt");
  const ImageParam a(Float(32), 1, "a"), before(Float(32), 1, "before");
  Func o("o");
  o(x) = before(x) + a(x);
  o.gpu_tile(x, xb, xt, 32, TailStrategy::GuardWithIf);
  return {o, {a, before}};
}

void compile(Kernel kernel, const std::filesystem::path& object) {
  const Target target("x86-64-linux-no_asserts-no_bounds_query-no_runtime-opencl-user_context");
  kernel.output.compile_to_object(object.string(), kernel.arguments, search::kKernelFunction, target);
}

Kernel doubling(Doubling kind) {
  const Var x("x"), y("y"), xb("xb"), yb("yb"), xt("xt"), yt("yt");
  ImageParam a(Float(32), 2, "a");
  Func step("step"), o("o");
  const auto on_device = [&](Func f) { f.gpu_tile(x, y, xb, yb, xt, yt, 8, 4, TailStrategy::GuardWithIf); };
  switch (kind) {
    case Doubling::Right:
      o(x, y) = 2 * a(x, y);
      break;
    case Doubling::Wrong:
      o(x, y) = 2 * a(x, y) + 1;
      break;
    case Doubling::Outside:
      o(x, y) = 2 * a(x, y + 1);
      break;
    case Doubling::Endless: {
      const RDom r(0, 1 << 30);
      Func sum("sum");
      sum(x, y) = a(x, y);
      sum(x, y) = sum(x, y) * 0.5f + cast<float>(r);
      o(x, y) = sum(x, y);
      break;
    }
    case Doubling::InTwoSteps:
      step(x, y) = 4 * a(x, y);  // exact
      step.compute_root();
      on_device(step);
      o(x, y) = 0.5f * step(x, y);
      break;
  }
  on_device(o);
  return {o, {a}};
}

}  // namespace

void compile_doubling(Doubling kind, const std::filesystem::path& object) { compile(doubling(kind), object); }

void compile_accumulating(const std::filesystem::path& object) { compile(accumulating(), object); }

codegen::Backend handmade_backend() {
  const auto compile = [](const ir::Program& program, const codegen::Schedule&, const codegen::Target& target,
                          const std::string& function,
                          const std::filesystem::path& object) -> Result<codegen::Compiled> {
    Kernel kernel = program.name == "accumulating" ? accumulating() : doubling(Doubling::InTwoSteps);
    kernel.output.compile_to_object(object.string(), kernel.arguments, function, Target(target.text() + "-no_runtime"));
    return codegen::Compiled{"by hand"};
  };
  return {.compile = compile, .runtime = {}, .warm_up = {}};
}

}  // namespace tile_tune::test
