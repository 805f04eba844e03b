// Sums at block level: what is left of them on a thread, and mappings by which threads would read each other's.
#include "codegen/lower/shrink_registers.h"

#include <catch2/catch.hpp>
#include <string>

#include "codegen/lower/guard.h"

namespace tile_tune::codegen {
namespace {

using Halide::Func;
using Halide::RDom;
using Halide::Var;

// out(x) = sum of in(x, r), blocks of 32 whose sums are made by 32 / `initial` threads first and 32 / `updated` then.
std::string compiled(int initial, int updated) {
  Halide::ImageParam in(Halide::Float(32), 2, "in");
  const RDom r(0, 16, "r");
  Func sum("sum"), out("out");
  const Var x("x"), block("block"), inner("inner"), thread("thread"), element("element");
  sum(x) = 0.0f;
  sum(x) += in(x, r);
  out(x) = sum(x);
  out.bound(x, 0, 1024).split(x, block, inner, 32).split(inner, thread, element, initial).unroll(element);
  out.gpu_blocks(block).gpu_threads(thread);
  sum.compute_at(out, block).store_in(Halide::MemoryType::Register);
  sum.split(x, thread, element, initial).unroll(element).gpu_threads(thread);
  sum.update().split(x, thread, element, updated).reorder(element, r, thread).unroll(element).gpu_threads(thread);
  out.add_custom_lowering_pass(new ShrinkRegisters());
  const Halide::Target target("x86-64-linux-opencl-no_runtime-no_asserts-no_bounds_query");
  std::string text;
  for (const auto& buffer : out.compile_to_module({in}, "out", target).buffers())
    if (buffer.name().ends_with("gpu_source_kernels"))
      text.append(static_cast<const char*>(buffer.data()), buffer.size_in_bytes());
  return text;
}

}  // namespace

TEST_CASE("a thread keeps its own sums") {
  const std::string text = compiled(4, 4);
  CHECK_THAT(text, Catch::Contains("_sum_0[4];"));
  CHECK_THAT(text, !Catch::Contains("[32];"));
}

TEST_CASE("a mapping by which a thread reads another one's sums is refused") {
  const auto refused = guard("compiling", [] { compiled(4, 2); });
  REQUIRE(!refused);
  CHECK_THAT(refused.error().message, Catch::Contains("elements of sum") && Catch::Contains("another one computes"));
}

}  // namespace tile_tune::codegen
