// How defaults cut loops for threads and blocks: groups, columns, rows that tiles do not divide.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "codegen/schedule/check.h"
#include "search/space/choices.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

codegen::Schedule of_zen4(const std::string& text, const ir::Sizes& sizes) {
  codegen::Target target = two_threads(64, 32, 1 << 20);
  target.tuned_for = codegen::Processor::ZnVer4;
  target.l3_bytes = 32 << 20;
  const auto program = bound(text, sizes);
  auto schedule = Space(program, target).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule;
}

codegen::NestSchedule only_nest(const std::string& text, const ir::Sizes& sizes) {
  return of_zen4(text, sizes).stages.at(0).nest();
}

/// The outermost tiles in which the rows of a matrix are divided by their norms, or its columns by theirs.
std::vector<int64_t> tiles_of_norms(const std::string& of, int64_t rows, int64_t columns) {
  const auto nest =
      of_zen4("def f(float(A,B) X) -> (O) { V(" + of + ") +=! X(a,b) * X(a,b) O(a,b) = X(a,b) * rsqrt(V(" + of + ")) }",
              {{"A", rows}, {"B", columns}})
          .stages.at(1)
          .nest();
  return {nest.tiles[0].front(), nest.tiles[1].front()};
}

/// Of the first loop.
int64_t groups(const codegen::NestSchedule& nest, int64_t extent) {
  const int64_t size = nest.tiles[0].front();
  return (extent + size - 1) / size;
}

}  // namespace

TEST_CASE("short iterations run in groups, of which none is in part", "[unit]") {
  const std::string sums = "def f(float(A,B) X) -> (O) { O(a) +=! X(a,b) }";
  for (const int64_t rows : {3584, 3583, 29696}) {
    const auto nest = only_nest(sums, {{"A", rows}, {"B", rows == 29696 ? 16 : 363}});
    INFO(rows);
    REQUIRE(nest.cpu().parallel == 1);
    REQUIRE(nest.order.size() == 2);
    CHECK(nest.tiles[0].front() > nest.tiles[0].back());
    CHECK(groups(nest, rows) >= 16);
    CHECK(static_cast<double>(groups(nest, rows) * nest.tiles[0].front()) <= 1.02 * static_cast<double>(rows));
  }
  // Long ones are as they are.
  CHECK(only_nest(sums, {{"A", 512}, {"B", 100000}}).order.size() == 1);
  // All of the other loops inside a group.
  const auto rows = only_nest("def f(float(A,B,C) X) -> (O) { O(a,b,c) max=! X(a,b + k,c) where b in 0:4, k in 0:3 }",
                              {{"A", 8192}, {"B", 6}, {"C", 8}});
  REQUIRE(rows.order.size() == 2);
  CHECK(rows.tiles[0].front() > 1);
  CHECK(rows.tiles[1].front() == 4);
}

TEST_CASE("groups copy what their iterations did, or all of it where that comes from many pages", "[unit]") {
  // 192 rows of the copied operand, 4 KB apart, are on as many pages, 32 on no more than the first TLB has.
  const std::string batches = "def f(float(M,B,K) X, float(N,B,K) Y) -> (O) { O(b,n,m) +=! Y(n,b,k) * X(m,b,k) }";
  const auto pages = only_nest(batches, {{"M", 192}, {"B", 512}, {"K", 2}, {"N", 4}});
  REQUIRE(pages.order.size() == 2);
  REQUIRE(pages.packings.size() == 1);
  CHECK(pages.packings[0].depth == 1);
  const auto few = only_nest(batches, {{"M", 32}, {"B", 512}, {"K", 3}, {"N", 16}});
  REQUIRE(few.order.size() == 2);
  REQUIRE(few.packings.size() == 1);
  CHECK(few.packings[0].depth == 4);
}

TEST_CASE("iterations that are worth their call keep loops that tiles do not divide inside", "[unit]") {
  const std::string taps = "def f(float(N,G,X) I, float(G,3) K) -> (O) { O(n,g,x) +=! I(n,g,x + k) * K(g,k) }";
  CHECK(only_nest(taps, {{"N", 64}, {"G", 64}, {"X", 1010}}).order.size() == 1);
  const auto short_ones =
      only_nest("def f(float(X,C) I) -> (O) { O(x,c) +=! I(x + k,c) where k in 0:3 }", {{"X", 4096}, {"C", 13}});
  REQUIRE(short_ones.order.size() == 2);
  CHECK(short_ones.tiles[0].front() > 16);
}

TEST_CASE("a tile around others has all of a loop or half of it", "[unit]") {
  CHECK(around_all(4, 128) == 128);
  CHECK(around_all(3, 128) == 66);
  CHECK(around_all(3, 7) == 3);
  CHECK(around_all(3, 5) == 3);
  CHECK(around_all(7, 7) == 7);
  const int64_t tile = tiles_of_norms("a", 300, 337)[1];
  CHECK((337 + tile - 1) / tile * tile < 1.3 * 337);
}

TEST_CASE("rows from memory that tiles do not divide come one by one", "[unit]") {
  CHECK(tiles_of_norms("a", 7872, 581)[0] == 1);
  CHECK(tiles_of_norms("a", 400, 581)[0] > 1);
}

TEST_CASE("columns that are all there is to share out are cut into whole lines", "[unit]") {
  CHECK(tiles_of_norms("b", 1024, 144)[1] == 16);
  CHECK(tiles_of_norms("b", 1024, 4096)[1] > 16);
}

TEST_CASE("threads do not transpose the same elements", "[unit]") {
  // Tiles of 16 of the 80 leave none over; 16 of 25 do, and are not what threads share out.
  const auto even =
      only_nest("def f(float(A,B,C) X) -> (O) { O(c,b,a) = X(a,b,c) }", {{"A", 8}, {"B", 800}, {"C", 80}});
  CHECK(80 % even.tiles[0].front() == 0);
  const auto uneven = only_nest("def f(float(A,B) X) -> (O) { O(b,a) = X(a,b) }", {{"A", 3669}, {"B", 25}});
  CHECK(uneven.order[0].front() == 1);
  CHECK(uneven.cpu().parallel == 1);
}

TEST_CASE("columns are shared out where the rows have too few divisors", "[unit]") {
  const std::string product = "def f(float(K,M) A, float(K) x) -> (O) { O(m) +=! A(k,m) * x(k) }";
  const auto prime = only_nest(product, {{"K", 11992}, {"M", 2636}});  // 8 times 1499
  CHECK_FALSE(prime.parallel_reduction);
  CHECK(prime.reduction_block[0] == 8);
  CHECK(prime.cpu().parallel == 1);
  CHECK(only_nest(product, {{"K", 12288}, {"M", 2636}}).parallel_reduction);
}

TEST_CASE("a few rows are added up at once", "[unit]") {
  const auto nest =
      only_nest("def f(float(A,B,C) X) -> (O) { O(a,c) +=! X(a,b,c) }", {{"A", 64}, {"B", 6}, {"C", 738}});
  CHECK(nest.reduction_block[0] == 6);
}

TEST_CASE("a small operand is copied for sums in lanes", "[unit]") {
  CHECK(only_nest("def f(float(A,B) X, float(B,F) Y) -> (O) { O(f,a) +=! X(a,b) * Y(b,f) }",
                  {{"A", 80}, {"B", 64}, {"F", 4}})
            .vector_loop() == 2);
}

TEST_CASE("sums leave registers for what the next tap uses again", "[unit]") {
  const auto nest = only_nest(
      "def f(float(N,X,Y,Z,G) I, float(G,3,3,3) K) -> (O) { O(n,x,y,z,g) +=! I(n,x + kx,y + ky,z + kz,g) * "
      "K(g,kx,ky,kz) where x in 0:14, y in 0:6, z in 0:6, kx in 0:3, ky in 0:3, kz in 0:3 }",
      {{"N", 7}, {"X", 16}, {"Y", 8}, {"Z", 8}, {"G", 128}});
  int64_t sums = 1;
  for (const auto& tiles : nest.tiles) sums *= tiles.back();
  CHECK(sums / 16 <= 20);
  CHECK(nest.reduction_unroll[2] == 3);
}

TEST_CASE("small copies that all threads read are made by each for itself", "[unit]") {
  const std::string product = "def f(float(M,K) A, float(N,K) B) -> (O) { O(m,n) +=! A(m,k) * B(n,k) }";
  const auto own = only_nest(product, {{"M", 384}, {"N", 32}, {"K", 328}});
  REQUIRE(own.order.size() == 2);
  CHECK(own.cpu().parallel == 1);
  CHECK(own.order.front().front() == 0);
  CHECK(own.tiles[0].front() == 192);
  CHECK(own.tiles[0].back() < 192);
  CHECK(own.tiles[1].front() == 32);
  REQUIRE(own.packings.size() == 1);
  CHECK(own.packings.front().depth == 1);
  // Where there is much work beside few lines to copy, one thread copies for all.
  const auto shared = only_nest(product, {{"M", 28416}, {"N", 32}, {"K", 328}});
  CHECK(shared.order.size() == 1);
  REQUIRE(shared.packings.size() == 1);
  CHECK(shared.packings.front().depth == 0);
  // Nor is there a copy for each thread where columns would be computed again, of the tile that is left over.
  const auto left_over = only_nest(product, {{"M", 384}, {"N", 41}, {"K", 328}});
  for (const auto& copy : left_over.packings) CHECK((left_over.order.size() == 1 || copy.depth != 1));
}

}  // namespace tile_tune::search
