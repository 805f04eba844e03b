// Every example of the documents that the three front ends follow, by its default schedule on a GPU: on OpenCL.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"
#include "tests/unit/edsl/example.h"

namespace tile_tune {
namespace {

void check_default_on_gpu(const ir::Program& program) {
  test::expect_right(program, search::Space(program, test::opencl_host()).default_schedule());
}

std::string golden_text(const std::string& name) {
  std::ifstream stream(std::string(TILE_TUNE_SOURCE_DIR) + "/tests/golden/tc/good/" + name + ".tc");
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the Tile document's examples on a GPU") {
  for (const auto& example : edsl::test::document_examples()) DYNAMIC_SECTION(example.name) {
      check_default_on_gpu(ir::canonicalize(example.program.ir()));
    }
}

// The copy for the last block reached beyond the input, as the output does.
TEST_CASE("an operand staged for elements that nothing is added to") {
  for (const auto& example : edsl::test::document_examples()) {
    if (example.name != "sum_padded") continue;
    const auto program = ir::canonicalize(example.program.ir());
    test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                         nest.tiles = {{4, 1}};
                         nest.packings = {{0, 1, {0, 1}}};
                       }));
  }
}

TEST_CASE("the examples of Tensor Comprehensions on a GPU") {
  struct Example {
    std::string name;
    ir::Sizes sizes;
  };
  const auto one =
      GENERATE(Example{"seed_mv", {{"R", 13}, {"C", 67}}}, Example{"seed_mv_init", {{"R", 13}, {"C", 67}}},
               Example{"seed_mm", {{"X", 7}, {"Y", 11}, {"Z", 5}}},
               Example{"seed_conv", {{"B", 2}, {"IP", 3}, {"OP", 4}, {"H", 7}, {"W", 9}, {"KH", 3}, {"KW", 2}}},
               Example{"seed_maxpool2x2_closed", {{"B", 1}, {"C", 3}, {"H", 7}, {"W", 8}}});
  INFO(one.name);
  check_default_on_gpu(test::gpu_program(golden_text(one.name), one.sizes));
}

TEST_CASE("the einsums of the tensors' document on a GPU") {
  struct Example {
    std::string subscripts;
    std::vector<std::vector<int64_t>> shapes;
  };
  const auto one = GENERATE(Example{"ii->", {{37, 37}}}, Example{"ii->i", {{37, 37}}}, Example{"i->ii", {{37}}},
                            Example{"ik,k,kj->ij", {{9, 5}, {5}, {5, 13}}});
  INFO(one.subscripts);
  einsum::Known known;
  for (const auto& shape : one.shapes) known.operands.push_back({DType::F32, shape});
  const auto made = einsum::make_program(einsum::parse(one.subscripts).value(), known).value();
  check_default_on_gpu(ir::canonicalize(ir::bind(made.program, made.sizes).value()));
}

}  // namespace tile_tune
