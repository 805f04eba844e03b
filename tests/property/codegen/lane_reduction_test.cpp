// Vectors of partial sums of several elements, folded together: tiles that fill no vector, one, and more than one.
#include <catch2/catch.hpp>

#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {

TEST_CASE("elements of a register tile whose reduction runs in lanes are folded each on its own", "[property]") {
  const std::string type = GENERATE("float", "double", "int32", "float16");
  const std::string op = type == "float" ? GENERATE("+=!", "max=!") : "+=!";
  const auto program = test::bound_program(
      "def f(" + type + "(B,M,K) A, " + type + "(B,N,K) C) -> (O) { O(b,m,n) " + op + " A(b,m,k) * C(b,n,k) }",
      {{"B", 2}, {"M", 17}, {"N", 29}, {"K", 37}});
  test::KernelCheck check(program, 1);
  auto schedule = search::Space(program, test::host(1)).default_schedule();
  auto& stage = schedule.stages[0];
  stage = {};
  stage.vector_loop = 3;
  stage.reduction_order = {0};
  stage.reduction_block = {37};
  stage.order = {{0, 1, 2}};
  for (const auto& [rows, columns, lanes, unroll] : std::vector<std::tuple<int64_t, int64_t, int, int>>{
           {3, 1, 8, 1}, {1, 8, 4, 3}, {2, 13, 8, 1}, {13, 2, 16, 2}, {5, 5, 2, 1}}) {
    stage.tiles = {{1}, {rows}, {columns}};
    stage.lanes = lanes;
    stage.reduction_unroll = {unroll};
    CAPTURE(type, op, rows, columns, lanes, unroll);
    check.expect_right(schedule);
  }
}

}  // namespace tile_tune
