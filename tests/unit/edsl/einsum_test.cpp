// Einsum notation as the SDK offers it.
#include <catch2/catch.hpp>
#include <sstream>
#include <tile_tune/einsum.h>

#include "frontend/ir/canonical.h"
#include "frontend/ir/program.h"

using namespace tile_tune;

TEST_CASE("sizes that are bound order the contractions of a network") {
  const std::map<std::string, int64_t> sizes{{"a", 30}, {"b", 4}, {"c", 50}, {"d", 6}};
  const auto spelled = [](const edsl::Program& program) {
    std::ostringstream text;
    text << program;
    return text.str();
  };
  const auto outer_first = einsum::parse("cd,ab,bc->ad");
  CHECK_THAT(spelled(outer_first), Catch::Contains("partial0(c,d,a,b) = in0(c,d) * in1(a,b)"));
  const auto bound = outer_first.bind(sizes);
  // 2 * (4 * 6 * 50 + 30 * 4 * 6), not the outer product's 30 * 4 * 50 * 6 and more.
  CHECK(ir::flops(bound.ir()) == 2 * (4 * 6 * 50 + 30 * 4 * 6));
  for (const char* other : {"ab,bc,cd->ad", "bc,ab,cd->ad"}) {
    INFO(other);
    CHECK(ir::content_hash(einsum::parse(other).bind(sizes).ir()) == ir::content_hash(bound.ir()));
  }
  // Where the sizes say so, another order; parentheses fix it.
  CHECK(ir::flops(outer_first.bind({{"a", 1}, {"b", 40}, {"c", 50}, {"d", 60}}).ir()) == 2 * (40 * 50 + 50 * 60));
  CHECK(ir::flops(einsum::parse("(cd,ab),bc->ad").bind(sizes).ir()) == 3 * 30 * 4 * 50 * 6);
}

TEST_CASE("labels may be numbers") {
  const auto product = einsum::from_labels({{0, 12}, {12, 7}}, {0, 7});
  CHECK(product.bind({{"label_0", 2}, {"label_12", 3}, {"label_7", 5}}).ir().tensors.back().extents ==
        std::vector<ir::SizeExpr>{2, 5});
  CHECK(ir::content_hash(
            einsum::from_labels({{4, 0}, {0, 1}}, {4, 1}, {{DType::F64, {2, 3}}, {DType::F64, {3, 5}}}).ir()) ==
        ir::content_hash(einsum::parse("ij,jk->ik", {{DType::F64, {2, 3}}, {DType::F64, {3, 5}}}).ir()));
  const auto batched = einsum::from_labels({{-1, 3}}, {3, -1}, {{DType::I32, {2, 4, 5}}});
  CHECK(ir::shape(batched.ir().tensors.back()) == std::vector<int64_t>{5, 2, 4});
  try {
    einsum::from_labels({{0, -2}}, {0});
    FAIL("-2 is no label");
  } catch (const ProgramError& error) {
    CHECK(error.code() == "bad-label");
  }
}

TEST_CASE("the result's type may be given") {
  const auto type_of = [](const edsl::Program& program) { return program.ir().tensors.back().type; };
  CHECK(type_of(einsum::parse("ij->i")) == DType::F32);
  CHECK(type_of(einsum::parse("ij->i", {}, DType::F64)) == DType::F64);
  CHECK(type_of(einsum::parse("ij->i", {}, DType::F64).bind({{"i", 2}, {"j", 3}})) == DType::F64);
  CHECK(type_of(einsum::parse("i,i->", {{DType::I8, {3}}, {DType::I8, {3}}}, DType::I64)) == DType::I64);
  CHECK(type_of(einsum::from_labels({{0}, {0}}, {}, {{DType::I8, {3}}, {DType::I8, {3}}}, DType::F32)) == DType::F32);
  try {
    einsum::parse("i,i->", {{DType::F32, {3}}, {DType::F64, {3}}}, DType::F32);
    FAIL("F32 does not hold F64");
  } catch (const ProgramError& error) {
    CHECK(error.code() == "narrowing");
  }
}
