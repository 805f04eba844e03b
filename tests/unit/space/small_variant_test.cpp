// Small odd instances of programs, from symbolic sizes and from numbers alone.
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/shrink.h"
#include "search/space/small_variant.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

using namespace tile_tune;

namespace {

ir::Program parsed(const std::string& text) {
  auto result = tc::parse(text, "test.tc");
  REQUIRE(result);
  return result->programs.at(0);
}

/// As saved: with numbers only.
ir::Program numbers(const std::string& text, const ir::Sizes& sizes) { return ir::bind(parsed(text), sizes).value(); }

std::vector<int64_t> shape(const ir::Program& program, const std::string& tensor) {
  for (const auto& one : program.tensors)
    if (one.name == tensor) return ir::shape(one);
  return {};
}

size_t constraint_count(const ir::Program& program) {
  size_t count = 0;
  for (const auto& statement : program.statements) count += statement.constraints.size();
  return count;
}

using Shape = std::vector<int64_t>;

}  // namespace

TEST_CASE("sizes with names become primes, numbers in the program something as odd") {
  const auto symbolic = search::small_variant(parsed(search::kMatmul), {{"M", 512}, {"K", 512}, {"N", 512}});
  REQUIRE(symbolic);
  CHECK(shape(*symbolic, "A") == Shape{67, 71});
  const auto saved = search::small_variant(numbers(search::kMatmul, {{"M", 1024}, {"K", 700}, {"N", 2000}}), {});
  REQUIRE(saved);
  CHECK(shape(*saved, "A") == Shape{71, 73});
  CHECK(shape(*saved, "B") == Shape{73, 67});
  CHECK(shape(*saved, "C") == Shape{71, 67});
  // What is as small already has none.
  CHECK_FALSE(search::small_variant(parsed(search::kMatmul), {{"M", 2}, {"K", 2}, {"N", 2}}));
  CHECK_FALSE(search::small_variant(numbers(search::kMatmul, {{"M", 2}, {"K", 2}, {"N", 2}}), {}));
  // Nothing is computed, but much is moved.
  const auto copy = "def f(float(A,B,C,D) X) -> (Y) { Y(d,c,b,a) = X(a,b,c,d) }";
  const ir::Sizes sizes{{"A", 200}, {"B", 100}, {"C", 50}, {"D", 30}};
  for (const auto& small :
       {search::small_variant(parsed(copy), sizes), search::small_variant(numbers(copy, sizes), {})}) {
    REQUIRE(small);
    int64_t elements = 1;
    for (const auto extent : shape(*small, "Y")) elements *= extent;
    CHECK(elements <= 2000000);
    CHECK(elements > 1000);
  }
  // Half of the sizes are numbers.
  const auto half = parsed("def f(float(M,4096) A, float(4096,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const auto variant = search::small_variant(half, {{"M", 512}, {"N", 512}});
  REQUIRE(variant);
  CHECK(shape(*variant, "C") != Shape{512, 512});
  CHECK(ir::flops(*variant) <= 4e6);
}

TEST_CASE("windows, pools, padding and shifts stay what they are when numbers are made small") {
  const auto conv = search::small_variant(
      numbers("def f(float(B,C,H,W) I, float(O,C,KH,KW) K) -> (R) { R(b,o,y,x) +=! I(b,c,y+i,x+j) * K(o,c,i,j) }",
              {{"B", 4}, {"C", 64}, {"H", 58}, {"W", 58}, {"O", 64}, {"KH", 3}, {"KW", 3}}),
      {});
  REQUIRE(conv);
  const auto image = shape(*conv, "I"), result = shape(*conv, "R"), kernel = shape(*conv, "K");
  CHECK(image[2] == result[2] + 2);
  CHECK(image[3] == result[3] + 2);
  CHECK((kernel[2] == 3 && kernel[3] == 3));
  CHECK(result[2] % 8 != 0);
  CHECK(constraint_count(*conv) == 0);
  const auto pool = search::small_variant(
      numbers("def f(float(B,C,H,W) I) -> (R) { R(b,c,y,x) max=! I(b,c,2*y+i,2*x+j) where i in 0:2, j in 0:2 }",
              {{"B", 16}, {"C", 96}, {"H", 224}, {"W", 224}}),
      {});
  REQUIRE(pool);
  CHECK(shape(*pool, "R")[2] == shape(*pool, "I")[2] / 2);
  CHECK(constraint_count(*pool) == 0);
  const auto reversed =
      search::small_variant(numbers("def f(float(N,L) A, float(L,K) B) -> (C) { C(i,j) +=! A(N-1-i,k) * B(k,j) }",
                                    {{"N", 800}, {"L", 900}, {"K", 1000}}),
                            {});
  REQUIRE(reversed);
  CHECK(ir::flops(*reversed) <= 4e6);
}

TEST_CASE("programs of many dimensions are made smaller still") {
  const auto program =
      parsed("def f(float(G,D,A,B) X, float(E,F,G,C) Y) -> (Z) { Z(a,b,c,d,e,f) +=! X(g,d,a,b) * Y(e,f,g,c) }");
  const ir::Sizes sizes{{"A", 24}, {"B", 16}, {"C", 16}, {"D", 24}, {"E", 16}, {"F", 16}, {"G", 24}};
  for (const auto& small :
       {search::small_variant(program, sizes), search::small_variant(ir::bind(program, sizes).value(), {})}) {
    REQUIRE(small);
    CHECK(ir::flops(*small) <= 4e6);
    CHECK(ir::flops(*small) > 1000);
    for (const auto extent : shape(*small, "Z")) CHECK(extent > 1);
  }
}

TEST_CASE("a schedule of the program fits its small variant") {
  codegen::Target target = codegen::parse_target("x86-64-linux-avx2-fma").value();
  target.threads = 2;
  const auto large = numbers(search::kMatmul, {{"M", 1024}, {"K", 700}, {"N", 2000}});
  const auto small = search::small_variant(large, {});
  REQUIRE(small);
  const search::Space space(ir::canonicalize(large), target), small_space(*small, target);
  search::Rng rng(3);
  for (int i = 0; i < 10; ++i) {
    const auto adapted = small_space.adapt(space.sample(rng).schedule).schedule;
    CHECK(codegen::check(*small, adapted));
  }
}
