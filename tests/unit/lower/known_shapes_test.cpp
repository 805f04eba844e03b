// What kernels ask of buffers, whose shapes their callers make from the same numbers.
#include "codegen/lower/known_shapes.h"

#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "codegen/lower/compile.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

constexpr const char* kAsks = "halide_error_";

/// out(x) = in(x + ahead), 7 elements of 9.
std::string module_text(int ahead, bool is_collapsed) {
  Halide::ImageParam in(Halide::Float(32), 1, "in");
  Halide::Func out("out");
  const Halide::Var x;
  out(x) = in(x + ahead);
  in.dim(0).set_bounds(0, 9);
  out.output_buffer().dim(0).set_bounds(0, 7);
  Halide::Pipeline pipeline(out);
  pipeline.add_custom_lowering_pass(new KnownShapes(is_collapsed));
  std::ostringstream text;
  text << pipeline.compile_to_module({in}, "kernel", Halide::Target("x86-64-linux-no_runtime-no_bounds_query"));
  return text.str();
}

}  // namespace

TEST_CASE("buffers whose shapes are known are asked for nothing") {
  CHECK(module_text(2, false).find(kAsks) == std::string::npos);
  CHECK(module_text(2, true).find(kAsks) == std::string::npos);
}

TEST_CASE("what may lie outside is asked for when the kernel runs, or refused where it cannot be") {
  CHECK(module_text(3, false).find("halide_error_access_out_of_bounds") != std::string::npos);
  CHECK_THROWS_AS(module_text(3, true), Halide::CompileError);
}

TEST_CASE("kernels of known sizes report no error but that of memory") {
  using namespace edsl;
  const auto A = Placeholder(DType::F32, {21}, "A");
  TensorIndex i;
  auto B = TensorOutput(TensorDim(21));
  B(i) += A(i);
  const auto program = ir::canonicalize(edsl::Program("copy", {A}, {{"B", B}}).ir());
  NestSchedule stage;
  stage.tiles = {{7}};
  stage.order = {{0}};
  const auto directory = base::TemporaryDirectory::create(std::filesystem::temp_directory_path(), "known-shapes-");
  REQUIRE(directory);
  const auto object = directory->path() / "kernel.o";
  const auto compiled = compile_object(program, {{stage}}, Target(), "kernel", object);
  REQUIRE(compiled);
  CHECK(base::read_bytes(object)->find(kAsks) == std::string::npos);
}

}  // namespace tile_tune::codegen
