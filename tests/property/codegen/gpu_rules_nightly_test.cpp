// One program for each rule of Tile, by its default schedule on a GPU: 20 s of a core, half of it for all functions.
#include <catch2/catch.hpp>

#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/unit/edsl/example.h"

namespace tile_tune {

TEST_CASE("one program for each rule of Tile on a GPU", "[nightly]") {
  for (const auto& example : edsl::test::rule_examples()) DYNAMIC_SECTION(example.name) {
      const ir::Program program = ir::canonicalize(example.program.ir());
      test::expect_right(program, search::Space(program, test::opencl_host()).default_schedule());
    }
}

}  // namespace tile_tune
