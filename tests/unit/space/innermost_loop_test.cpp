// Which short loop of a sum is unrolled by default.
#include <catch2/catch.hpp>
#include <string>

#include "codegen/schedule/check.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

codegen::NestSchedule with_16_registers(const ir::Program& program) {
  const auto schedule = Space(program, two_threads(32, 16, 1 << 19)).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

}  // namespace

TEST_CASE("of short loops over taps that with the most shared vectors is unrolled, and comes last", "[unit]") {
  const auto text =
      "def f(float(N,C,X,Y,Z) I, float(F,C,3,3,3) K) -> (O) { O(n,f,x,y,z) +=! I(n,c,x + kx,y + ky,z + kz) * "
      "K(f,c,kx,ky,kz) where x in 0:4, y in 0:3, z in 0:6, kx in 0:3, ky in 0:3, kz in 0:3 }";
  const auto nest = with_16_registers(bound(text, {{"N", 8}, {"C", 92}, {"F", 3}, {"X", 6}, {"Y", 5}, {"Z", 8}}));
  CHECK(nest.cpu().vector_loop == 0);
  CHECK(nest.tiles[2].back() == 4);
  CHECK(nest.reduction_unroll == std::vector<int>{1, 3, 1, 1});
  CHECK(nest.reduction_order == std::vector<int>{0, 2, 3, 1});
}

TEST_CASE("a short innermost loop is unrolled as far as registers have room", "[unit]") {
  // Twelve sums of two terms, and of three.
  CHECK(with_16_registers(matmul(144, 240, 2)).reduction_unroll == std::vector<int>{2});
  CHECK(with_16_registers(matmul(144, 240, 3)).reduction_unroll == std::vector<int>{1});
  // Rows of three elements of the image, which are apart, or of which two taps read the same.
  const std::string head = "def f(float(1,C,64,8) I, float(F,C,2,2) K) -> (O) { O(n,f,x,y) +=! ",
                    tail = " * K(f,c,kx,ky) where x in 0:31, y in 0:3, kx in 0:2, ky in 0:2 }";
  const auto apart = with_16_registers(bound(head + "I(n,c,2*x + kx,2*y + ky)" + tail, {{"C", 136}, {"F", 256}})),
             shared = with_16_registers(bound(head + "I(n,c,2*x + 2*kx,2*y + 2*ky)" + tail, {{"C", 136}, {"F", 256}}));
  REQUIRE(shared.tiles == apart.tiles);
  CHECK(apart.tiles[3].back() == 3);
  CHECK(apart.reduction_unroll == std::vector<int>{1, 1, 2});
  CHECK(shared.reduction_unroll == std::vector<int>{1, 1, 1});
}

TEST_CASE("of a long innermost loop some steps are unrolled where a step is short", "[unit]") {
  CHECK(with_16_registers(matmul(144, 240, 61)).reduction_unroll == std::vector<int>{4});
  CHECK(with_16_registers(matmul(144, 240, 19)).reduction_unroll == std::vector<int>{1});
  const auto of_product = [](const std::string& type, const std::string& term) {
    return matmul(144, 240, 64, "def f(" + type + "(M,K) A, " + type + "(K,N) B) -> (O) { O(m,n) +=! " + term + " }");
  };
  CHECK(with_16_registers(of_product("double", "A(m,k) * B(k,n)")).reduction_unroll == std::vector<int>{4});
  CHECK(with_16_registers(of_product("int32", "A(m,k) * B(k,n)")).reduction_unroll == std::vector<int>{1});
  CHECK(with_16_registers(of_product("float", "(A(m,k) - B(k,n)) * (A(m,k) - B(k,n))")).reduction_unroll ==
        std::vector<int>{1});
  // Blocks of a sum whose results wait in the first cache: what divides them.
  const auto blocks = with_16_registers(bound("def f(float(K,M) A, float(K,N) B) -> (O) { O(m,n) +=! A(k,m) * B(k,n) }",
                                              {{"M", 61}, {"N", 53}, {"K", 3000}}));
  REQUIRE(blocks.reduction_block.front() < 3000);
  CHECK(blocks.reduction_block.front() % 4 == 2);
  CHECK(blocks.reduction_unroll == std::vector<int>{2});
}

TEST_CASE("with registers enough steps are unrolled where a core computes whole ones", "[unit]") {
  const auto unrolled = [](const std::string& text, const ir::Sizes& sizes, codegen::Processor processor) {
    codegen::Target target = two_threads(64, 32, 1 << 21);
    target.tuned_for = processor;
    const auto program = bound("def f(" + text + " }", sizes);
    const auto schedule = Space(program, target).default_schedule();
    REQUIRE(codegen::check(program, schedule).has_value());
    return schedule.stages.at(0).nest().reduction_unroll;
  };
  const std::string rows = "float(M,K) A, float(N,K) B) -> (O) { O(m,n) +=! A(m,k) * B(n,k)",
                    columns = "float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! A(m,k) * B(k,n)",
                    batches = "float(K,M,B) X, float(K,B,N) Y) -> (O) { O(n,m,b) +=! X(k,m,b) * Y(k,b,n)";
  const auto any = codegen::Processor::Any;
  const ir::Sizes sizes = {{"M", 384}, {"N", 32}, {"K", 328}};
  CHECK(unrolled(rows, sizes, any) == std::vector<int>{4});
  CHECK(unrolled(rows, {{"M", 384}, {"N", 32}, {"K", 19}}, any) == std::vector<int>{1});
  CHECK(unrolled(rows, sizes, codegen::Processor::ZnVer4) == std::vector<int>{1});
  // Steps of a page, of vectors that are not copied, and vectors of both operands.
  CHECK(unrolled(columns, {{"M", 4}, {"N", 2532}, {"K", 192}}, any) == std::vector<int>{1});
  CHECK(unrolled(columns, {{"M", 4}, {"N", 932}, {"K", 192}}, any) == std::vector<int>{4});
  CHECK(unrolled(batches, {{"B", 77}, {"K", 208}, {"M", 32}, {"N", 2}}, any) == std::vector<int>{1});
}

}  // namespace tile_tune::search
