// Every example of the Tile document and of its rules as kernels: diagonals, strided and scattered targets, borders,
// elements nothing writes, by the default schedule and by random members of the space.
#include <catch2/catch.hpp>

#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"
#include "tests/unit/edsl/example.h"

namespace tile_tune {
namespace {

reference::Inputs inputs_of(const ir::Program& program, const edsl::test::Example& example) {
  reference::Inputs inputs;
  for (const int number : program.inputs) {
    const auto& tensor = program.tensors[static_cast<size_t>(number)];
    inputs.emplace(number, edsl::test::to_array(example.inputs.at(tensor.name), tensor.type));
  }
  return inputs;
}

void check_kernels(const std::vector<edsl::test::Example>& examples) {
  for (const auto& example : examples) {
    DYNAMIC_SECTION(example.name) {
      const ir::Program program = ir::canonicalize(example.program.ir());
      const search::Space space(program, test::host(2));
      test::KernelCheck check(program, inputs_of(program, example));
      search::Rng rng(std::hash<std::string>()(example.name));
      std::vector<codegen::Schedule> schedules{space.default_schedule(), space.sample(rng).schedule};
      schedules.push_back(space.mutate(schedules[0], rng).schedule);
      for (const auto& schedule : schedules) check.expect_right(schedule);
    }
  }
}

}  // namespace

TEST_CASE("kernels of the document's examples", "[property]") { check_kernels(edsl::test::document_examples()); }
TEST_CASE("kernels of the rules' examples", "[property]") { check_kernels(edsl::test::rule_examples()); }

}  // namespace tile_tune
