// What is too large for kernels to count.
#include <catch2/catch.hpp>

#include "codegen/schedule/countable.h"
#include "frontend/tc/parse.h"

using namespace tile_tune;

namespace {

std::string refusal(const std::string& text, const ir::Sizes& sizes) {
  const auto program = ir::bind(tc::parse(text, "test.tc").value().programs.at(0), sizes);
  REQUIRE(program);
  const auto checked = codegen::check_countable(*program);
  if (checked) return "";
  CHECK(checked.error().error_class == ErrorClass::Mismatch);
  CHECK(checked.error().code == "too-large");
  return checked.error().message;
}

constexpr int64_t kMost = (int64_t{1} << 31) - (int64_t{1} << 20);

}  // namespace

TEST_CASE("extents, strides, ranges and subscripts are counted in 32 bits, with room for tiles") {
  const std::string copy = "def f(uint8(N) A) -> (o) { o(i) = A(i) }";
  CHECK(refusal(copy, {{"N", kMost}}).empty());
  CHECK(refusal(copy, {{"N", kMost + 1}}) == "dimension 0 of A is 2146435073: kernels count up to 2146435072");
  const std::string three = "def f(uint8(B,M,N) A) -> (o) { o(b,i,j) = A(b,i,j) }";
  CHECK(refusal(three, {{"B", kMost}, {"M", 1}, {"N", 1}}).empty());
  CHECK(refusal(three, {{"B", 1}, {"M", 1 << 16}, {"N", 1 << 16}}).starts_with("neighbours along dimension 0 of A"));
  CHECK(refusal(three, {{"B", 3}, {"M", 1 << 15}, {"N", 1 << 15}}).empty());
  const std::string loops = "def f(float(N) A) -> (o) { o(i) +=! A(i) where k in 0:3000000000 }";
  CHECK(refusal(loops, {{"N", 3}}).starts_with("the range of k is [0, 3000000000)"));
  // The ends of a subscript lie inside; what it is added up from, too, or not.
  CHECK(refusal("def f(uint8(N) A) -> (o) { o(i) = A(N-1-i) where i in 0:N }", {{"N", 2000000000}}).empty());
  CHECK(refusal("def f(uint8(N) A) -> (o) { o(i) +=! A(1000000*j - 1000000*k + i) "
                "where i in 0:3, j in 2999:3000, k in 2999:3000 }",
                {{"N", 5}})
            .ends_with("takes too large numbers: kernels count up to 2146435072"));
}

TEST_CASE("beside an extent of 0 the others may be of any size where nothing is to be computed") {
  const auto parsed = tc::parse("def f(float(M,N) A) -> (o) { o(i,j) = A(i,j) }", "test.tc").value();
  const auto none = ir::bind(parsed.programs.at(0), {{"M", 0}, {"N", int64_t{1} << 62}});
  REQUIRE(none);
  CHECK(codegen::computes_nothing(*none));
  CHECK_FALSE(codegen::check_countable(*none));
  CHECK_FALSE(codegen::computes_nothing(ir::bind(parsed.programs.at(0), {{"M", 1}, {"N", 1}}).value()));
}
