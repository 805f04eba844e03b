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
  const auto pair =
      avx2("def f(float(A,B) X, float(B) y) -> (O) { O() +=! X(a,b) * y(b) }", {{"A", 2}, {"B", 1000000}});
  REQUIRE(pair.parallel_reduction);
  CHECK(pair.parallel_reduction->loop == 1);
  CHECK(pair.parallel_reduction->pieces >= 8);
  const auto whole = avx2("def f(float(A,B) X) -> (O) { O() +=! X(a,b) }", {{"A", 2}, {"B", 1000000}});
  REQUIRE(whole.parallel_reduction);
  CHECK(whole.parallel_reduction->pieces >= 8);
}

TEST_CASE("sums of columns over distant rows are wide", "[unit]") {
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! X(a,b) }", {{"A", 32}, {"B", 8192}}).tiles[0].back() == 64);
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! exp(X(a,b)) }", {{"A", 32}, {"B", 8192}}).tiles[0].back() <= 32);
  CHECK(avx2("def f(float(A,B) X) -> (O) { O(b) +=! X(a,b) }", {{"A", 32}, {"B", 512}}).tiles[0].back() <= 32);
}

TEST_CASE("rows of results that threads would share by half a line are one thread's", "[unit]") {
  const char* const text = "def f(float(K,B,M) X, float(N,B,K) Y) -> (O) { O(m,n,b) +=! X(k,b,m) * Y(n,b,k) }";
  const auto nest = avx2(text, {{"B", 46}, {"K", 37}, {"M", 4}, {"N", 256}});
  CHECK(nest.tiles[2].front() == 46);
  // Long sums write seldom, and whole lines are nobody else's.
  CHECK(avx2(text, {{"B", 46}, {"K", 137}, {"M", 4}, {"N", 256}}).tiles[2].front() < 46);
  CHECK(avx2(text, {{"B", 48}, {"K", 37}, {"M", 4}, {"N", 256}}).tiles[2].front() < 48);
  // Transposed, rows of 15 x 2.
  const auto turned = avx2("def f(float(A,B,C) X) -> (O) { O(c,b,a) = X(a,b,c) }", {{"A", 2}, {"B", 15}, {"C", 1344}});
  CHECK(turned.order[0][0] == 0);
  CHECK(turned.cpu().parallel > 0);
}

TEST_CASE("rows that fill no wide vectors are summed in narrower ones", "[unit]") {
  const auto row = [](int64_t length) {
    return avx2("def f(float(A,B,C) X) -> (O) { O(b) max=! X(a,b,c) }", {{"A", 256}, {"B", 8}, {"C", length}});
  };
  const auto unrolled = [](const codegen::NestSchedule& nest) { return nest.reduction_unroll[1]; };
  CHECK(row(12).cpu().lanes == 4);
  CHECK(row(36).cpu().lanes == 8);  // the ninth of 4 more costs as much as what is left
  CHECK(row(144).cpu().lanes == 8);
  CHECK(row(1003).cpu().lanes == 8);
  // None of a row's vectors is left over, of a few.
  const auto alone = [](int64_t length) {
    return avx2("def f(float(A,B) X) -> (O) { O(a) max=! X(a,b) }", {{"A", 1}, {"B", length}}).reduction_unroll[0];
  };
  CHECK(alone(88) == 11);
  CHECK(alone(8 * 37) == 8);
  CHECK(72 / 8 % unrolled(row(72)) == 0);
  CHECK(88 / 8 % unrolled(row(88)) == 0);
}

TEST_CASE("pieces of a reduction leave a near cache what its lanes read again", "[unit]") {
  const char* const text =
      "def f(float(A,F,D,B,E) X, float(C,D,F,E) Y) -> (O) { O(a,b,c) +=! X(a,f,d,b,e) * Y(c,d,f,e) }";
  const auto chosen = [&](int64_t d, int64_t f) {
    const auto program = bound(text, {{"A", 7}, {"B", 2}, {"C", 23}, {"D", d}, {"E", 24}, {"F", f}});
    return Space(program, two_threads(64, 32, 1 << 20)).default_schedule().stages.at(0).nest();
  };
  const auto nest = chosen(16, 32);
  REQUIRE(nest.parallel_reduction);
  CHECK(nest.vector_loop() >= 3);
  CHECK(nest.tiles[0].back() * nest.tiles[1].back() * nest.tiles[2].back() >= 8);
  // As a whole where that is near.
  CHECK_FALSE(chosen(4, 4).parallel_reduction);
}

TEST_CASE("so many rows are added up at a time that none are left over", "[unit]") {
  const auto block = [](int64_t rows) {
    return avx2("def f(float(K,M) A, float(K) x) -> (y) { y(m) +=! A(k,m) * x(k) }", {{"K", rows}, {"M", 12019}})
        .reduction_block[0];
  };
  CHECK(block(1118) == 13);
  CHECK(block(1024) == 8);
  CHECK(block(1020) == 6);
}

TEST_CASE("threads share few elements whose functions take long", "[unit]") {
  const auto softmax = [](int64_t rows) {
    const auto program = bound(
        "def f(float(A,B,C) X) -> (O) { M(a,b) max=! X(a,b,c)  E(a,b,c) = exp(X(a,b,c) - M(a,b))  S(a,b) +=! E(a,b,c)  "
        "O(a,b,c) = E(a,b,c) / S(a,b) }",
        {{"A", rows}, {"B", 11}, {"C", 64}});
    return Space(program, two_threads(64, 32, 1 << 20)).default_schedule().stages.back().nest().cpu().parallel;
  };
  CHECK(softmax(16) > 0);
  CHECK(softmax(8) == 0);
}

}  // namespace tile_tune::search
