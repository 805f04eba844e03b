// Defaults that know which lines and pages a tile reads, and how threads share a sum.
#include <catch2/catch.hpp>
#include <string>

#include "codegen/schedule/check.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

codegen::NestSchedule avx2(const std::string& text, const ir::Sizes& sizes) {
  const auto program = bound(text, sizes);
  const auto schedule = Space(program, two_threads(32, 16, 1 << 20)).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

}  // namespace

TEST_CASE("rows of a tile are neighbours where their lines come from the second cache", "[unit]") {
  const auto nest = avx2("def f(float(E,D,A) X, float(D,E,C,B) Y) -> (O) { O(b,a,c) +=! X(e,d,a) * Y(d,e,c,b) }",
                         {{"A", 12}, {"B", 5}, {"C", 64}, {"D", 72}, {"E", 16}});
  CHECK(nest.tiles[0].back() == 5);
}

TEST_CASE("a sum in lanes shares a copy among rows along one loop", "[unit]") {
  const char* const text =
      "def f(float(N,Y,X,G,C) I, float(G,C,Y,X) K) -> (O) { O(n,g) +=! I(n,y,x,g,c) * K(g,c,y,x) }";
  const auto nest = avx2(text, {{"N", 7}, {"G", 13}, {"C", 16}, {"Y", 7}, {"X", 7}});
  CHECK(nest.vector_loop() >= 2);
  CHECK(nest.tiles[0].back() == 7);
  REQUIRE(nest.packings.size() == 1);
  // Of a matrix that is read once a copy is all the work.
  const auto once = avx2("def f(float(K) v, float(K,N) B) -> (O) { O(n) +=! v(k) * B(k,n) }", {{"K", 4096}, {"N", 5}});
  CHECK(once.packings.empty());
}

TEST_CASE("panels whose terms lie on pages of their own are packed", "[unit]") {
  const char* const text = "def f(float(K,B,M) X, float(K,B,N) Y) -> (O) { O(n,b,m) +=! X(k,b,m) * Y(k,b,n) }";
  const auto nest = avx2(text, {{"B", 96}, {"K", 72}, {"M", 128}, {"N", 40}});
  REQUIRE(nest.packings.size() == 1);
  CHECK(nest.packings[0].depth > 0);
  CHECK(avx2(text, {{"B", 96}, {"K", 48}, {"M", 128}, {"N", 40}}).packings.empty());
}

TEST_CASE("what is copied across lines is copied by whole lines", "[unit]") {
  const auto nest = avx2("def f(float(E,A,B,C) X, float(D,E) W) -> (O) { O(d,c,b,a) +=! X(e,a,b,c) * W(d,e) }",
                         {{"A", 32}, {"B", 64}, {"C", 64}, {"D", 40}, {"E", 16}});
  REQUIRE(nest.packings.size() == 1);
  // Inside the loop over b, outside that over c.
  CHECK(nest.packings[0].depth == 1);
  CHECK(nest.order[0][0] == 2);
}

TEST_CASE("threads share a sum whose length has few divisors", "[unit]") {
  const auto nest =
      avx2("def f(float(K) v, float(K,N) B) -> (O) { O(n) +=! v(k) * B(k,n) }", {{"K", 6652}, {"N", 320}});
  REQUIRE(nest.parallel_reduction);
  CHECK(nest.parallel_reduction->pieces == 4);
  // Where another loop has enough it is taken.
  const auto pair = avx2("def f(float(A,B) X) -> (O) { O() +=! X(a,b) }", {{"A", 2}, {"B", 1000000}});
  REQUIRE(pair.parallel_reduction);
  CHECK(pair.parallel_reduction->loop == 1);
  CHECK(pair.parallel_reduction->pieces >= 8);
}

TEST_CASE("sums of columns over distant rows are wide", "[unit]") {
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! X(a,b) }", {{"A", 32}, {"B", 8192}}).tiles[0].back() == 64);
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! exp(X(a,b)) }", {{"A", 32}, {"B", 8192}}).tiles[0].back() <= 32);
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! X(a,b) }", {{"A", 32}, {"B", 512}}).tiles[0].back() <= 32);
}

}  // namespace tile_tune::search
