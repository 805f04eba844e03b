// Einsum notation as the SDK offers it.
#include <catch2/catch.hpp>
#include <sstream>
#include <tile_tune/einsum.h>

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
    CHECK(ir::flops(einsum::parse(other).bind(sizes).ir()) == ir::flops(bound.ir()));
  }
  // Where the sizes say so, another order; parentheses fix it.
  CHECK(ir::flops(outer_first.bind({{"a", 1}, {"b", 40}, {"c", 50}, {"d", 60}}).ir()) == 2 * (40 * 50 + 50 * 60));
  CHECK_THAT(spelled(einsum::parse("(cd,ab),bc->ad").bind(sizes)), Catch::Contains("partial0(c,d,a,b)"));
}
