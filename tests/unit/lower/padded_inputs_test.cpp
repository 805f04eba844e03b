// Padding by copies means the same as padding by valid indices.
#include "codegen/lower/padded_inputs.h"

#include <tile_tune/edsl.h>

#include <catch2/catch.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/reference/reference.h"

namespace tile_tune::codegen {
namespace {

using namespace edsl;

// O(f,y,x) op= I(c, 2*y + 3*i - before, x + j - 1) * W(f,c,i,j)
ir::Program convolution(int before, bool is_max) {
  const auto I = Placeholder(DType::F32, {3, 11, 7}, "I"), W = Placeholder(DType::F32, {2, 3, 3, 3}, "W");
  TensorDim C, H, X, F, KH, KW;
  TensorIndex f, c, y, x, i, j;
  I.bind_dims(C, H, X);
  W.bind_dims(F, C, KH, KW);
  auto O = TensorOutput(F, TensorDim(5), X);
  if (is_max)
    O(f, y, x) >= I(c, 2 * y + 3 * i - before, x + j - 1) * W(f, c, i, j);
  else
    O(f, y, x) += I(c, 2 * y + 3 * i - before, x + j - 1) * W(f, c, i, j);
  return ir::canonicalize(edsl::Program("conv", {I, W}, {{"O", O}}).ir());
}

std::vector<double> values(const ir::Program& program) {
  const auto inputs = reference::random_inputs(program, 7);
  return reference::evaluate(program, inputs).value().at(0).values;
}

TEST_CASE("a padded sum of products reads a copy with zeros around it") {
  const auto program = convolution(2, false);
  REQUIRE(program.statements.at(0).constraints.size() == 2);
  const auto padded = with_padded_inputs(program);
  REQUIRE(padded.statements.size() == 2);
  CHECK(padded.statements[1].constraints.empty());
  const auto& copy = padded.tensors.at(padded.statements[0].target);
  // Rows -2 ... 2*4 + 3*2 - 2 = 12 of 0 ... 10, columns -1 ... 7 of 0 ... 6.
  CHECK(ir::shape(copy) == std::vector<int64_t>{3, 15, 9});
  CHECK(values(padded) == values(program));
}

TEST_CASE("padding on one side alone") {
  const auto padded = with_padded_inputs(convolution(0, false));
  CHECK(ir::shape(padded.tensors.at(padded.statements.at(0).target)) == std::vector<int64_t>{3, 15, 9});
  CHECK(values(padded) == values(convolution(0, false)));
}

TEST_CASE("a maximum is not padded: zeros would count") {
  const auto program = convolution(2, true);
  const auto padded = with_padded_inputs(program);
  CHECK(padded.statements.size() == 1);
  CHECK(padded.statements[0].constraints.size() == program.statements[0].constraints.size());
}

}  // namespace
}  // namespace tile_tune::codegen
