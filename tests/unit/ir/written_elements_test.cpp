// Which elements statements write, said also where sizes are open.
#include <catch2/catch.hpp>

#include "frontend/ir/written_elements.h"
#include "tests/unit/ir/programs.h"

namespace tile_tune::ir {
namespace {

/// o(2*i - j + 3) of i in [0, N), j in [0, 4).
Statement strided_statement(SizeExpr extent) {
  Statement statement;
  statement.target = 0;
  statement.indices = {{"i", 0, extent, ""}, {"j", 0, 4, ""}};
  statement.subscripts = {test::affine({{0, 2}, {1, -1}}, 3)};
  statement.value = test::number(1);
  return statement;
}

Program program_of(Statement statement, SizeExpr extent, bool bound) {
  Program program;
  if (!bound) program.sizes = {"N"};
  program.tensors = {{"o", DType::F32, {extent}, Role::Output, Storage::row()}};
  program.outputs = {0};
  program.statements = {std::move(statement)};
  return program;
}

TEST_CASE("a subscript's extremes, of open sizes and of numbers") {
  const auto open = program_of(strided_statement(test::size("N")), test::size("N") * 2 + 4, false);
  const auto values = extremes(open, open.statements[0], open.statements[0].subscripts[0]);
  REQUIRE((values.has_value() && values->has_value()));
  CHECK((**values).least.str() == "0");
  CHECK((**values).most.str() == (test::size("N") * 2 + 1).str());

  const auto bound = program_of(strided_statement(7), 18, true);
  const auto numbers = extremes(bound, bound.statements[0], bound.statements[0].subscripts[0]);
  REQUIRE((numbers.has_value() && numbers->has_value()));
  CHECK((**numbers).least == SizeExpr(0));
  CHECK((**numbers).most == SizeExpr(15));

  const auto empty = program_of(strided_statement(0), 18, true);
  const auto none = extremes(empty, empty.statements[0], empty.statements[0].subscripts[0]);
  REQUIRE((none.has_value() && none->has_value()));  // no constraint says otherwise: the box alone is gone by
}

TEST_CASE("reductions combine values over their indices, and write every element where these are open") {
  const Program open = test::matmul();
  CHECK(combined_indices(open, open.statements[0]) == std::vector<bool>{false, false, true});
  CHECK(shared_reduction_indices(open, open.statements[0]).empty());
  CHECK(writes_every_element(open, open.statements[0]));
  Program part = open;
  part.statements[0].indices[1].lo = 1;
  CHECK_FALSE(writes_every_element(part, part.statements[0]));
}

TEST_CASE("indices that an element does not tell are combined, too") {
  auto program = program_of(strided_statement(7), 18, true);
  program.statements[0].op = Aggregation::Sum;
  CHECK_FALSE(shared_reduction_indices(program, program.statements[0]).empty());
  CHECK_FALSE(writes_every_element(program, program.statements[0]));  // elements 16 and 17
  program.statements[0].op = Aggregation::Assign;
  CHECK(shared_reduction_indices(program, program.statements[0]).empty());
}

}  // namespace
}  // namespace tile_tune::ir
