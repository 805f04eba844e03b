// Defaults that know which lines and pages a tile reads, how threads share a sum, and what maxima and complex results
// cost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "codegen/schedule/check.h"
#include "frontend/einsum/einsum.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

codegen::NestSchedule avx2(const std::string& text, const ir::Sizes& sizes,
                           const codegen::Target& target = two_threads(32, 16, 1 << 20)) {
  const auto program = bound(text, sizes);
  const auto schedule = Space(program, target).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

codegen::Target with_large_last_cache() {
  auto target = two_threads(32, 16, 1 << 19);
  target.l3_bytes = 32 << 20;
  return target;
}

}  // namespace

TEST_CASE("rows of a tile are neighbours where their lines come from the second cache", "[unit]") {
  const auto nest = avx2("def f(float(E,D,A) X, float(D,E,C,B) Y) -> (O) { O(b,a,c) +=! X(e,d,a) * Y(d,e,c,b) }",
                         {{"A", 12}, {"B", 5}, {"C", 64}, {"D", 72}, {"E", 16}});
  CHECK(nest.tiles[0].back() == 5);
}

TEST_CASE("rows of a tile are neighbours where others share their places in the first cache", "[unit]") {
  // Rows along c are 36 KB apart, steps of the sum 2 KB, rows along d and e 4 bytes.
  const char* const text = "def f(float(B,F,A) X, float(C,F,D,E) Y) -> (O) { O(c,d,e,b,a) +=! X(b,f,a) * Y(c,f,d,e) }";
  const auto nest = avx2(text, {{"A", 16}, {"B", 2}, {"C", 10}, {"D", 32}, {"E", 16}, {"F", 18}});
  CHECK(nest.tiles[0].back() == 1);
  CHECK(nest.tiles[1].back() > 1);
  // With lines between them they have places enough.
  CHECK(avx2(text, {{"A", 16}, {"B", 2}, {"C", 10}, {"D", 33}, {"E", 16}, {"F", 18}}).tiles[0].back() == 5);
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

TEST_CASE("what few rows read from more pages than are known at a time is read in long pieces", "[unit]") {
  const auto product = [](int64_t m, int64_t k, int64_t n) {
    return avx2(kMatmul, {{"M", m}, {"K", k}, {"N", n}}, with_large_last_cache());
  };
  const auto many = product(8, 2000, 1100);
  CHECK(many.reduction_block == std::vector<int64_t>{8});
  CHECK(many.prefetches.empty());
  CHECK(product(8, 1024, 1500).reduction_block == std::vector<int64_t>{1024});
  // From memory pieces shorter than a page are asked for ahead.
  const auto from_memory = product(2, 1792, 3479);
  REQUIRE(from_memory.tiles[1].front() * 4 < 4096);
  CHECK(from_memory.prefetches == std::vector<codegen::Prefetch>{{1, 2, 8}});
  const auto longer = product(1, 512, 10527);
  REQUIRE(longer.tiles[1].front() * 4 >= 4096);
  CHECK(longer.prefetches.empty());
}

TEST_CASE("what more rows read from many pages passes by once", "[unit]") {
  const auto product = [](int64_t m, int64_t k, int64_t n) {
    const char* const text = "def f(float(K,M) A, float(K,N) B) -> (O) { O(m,n) +=! A(k,m) * B(k,n) }";
    return avx2(text, {{"M", m}, {"K", k}, {"N", n}}, with_large_last_cache());
  };
  // All rows wait while a block of the sum passes by, by some lines of the columns.
  const auto many = product(48, 6930, 746);
  REQUIRE(many.tiles[0].size() == 2);
  CHECK(many.tiles[0].front() == 48);
  CHECK(many.tiles[1].front() >= 64);
  CHECK(many.reduction_block[0] < 100);
  CHECK(product(64, 8192, 257).tiles[0].front() == 64);
  CHECK(product(48, 2400, 746).reduction_block == std::vector<int64_t>{2400});
  // More rows would leave too short blocks.
  CHECK(product(400, 6930, 746).reduction_block == std::vector<int64_t>{6930});
}

TEST_CASE("copies go on along the source's next dimension where its neighbours are few", "[unit]") {
  const auto order = [](const std::string& dimensions, const std::string& subscripts) {
    const auto nest = avx2("def f(float(G,C,B,F,A) X, float(" + dimensions + ") Y) -> (O) { O(d,c,b,e,a) +=! " +
                               "X(g,c,b,f,a) * Y(" + subscripts + ") }",
                           {{"A", 2}, {"B", 8}, {"C", 32}, {"D", 6}, {"E", 2}, {"F", 48}, {"G", 32}});
    REQUIRE(nest.packings.size() == 1);
    return nest.packings[0].order;
  };
  // Dimensions of X with c and b as one: a and then f follow in memory. The sum walks along g, or along f.
  CHECK(order("F,D,G,E", "f,d,g,e") == std::vector<int>{1, 3, 2, 0});
  CHECK(order("G,D,F,E", "g,d,f,e") == std::vector<int>{1, 2, 0, 3});
}

TEST_CASE("a row of sums that a narrower tile divides waits whole", "[unit]") {
  const char* const text = "def f(float(K,M) A, float(K) x) -> (O) { O(m) +=! A(k,m) * x(k) }";
  const auto target = with_large_last_cache();
  CHECK(avx2(text, {{"K", 7480}, {"M", 600}}, target).tiles[0] == std::vector<int64_t>{600, 24});
  CHECK(avx2(text, {{"K", 7480}, {"M", 601}}, target).tiles[0].front() < 601);
}

TEST_CASE("what is copied across lines is copied by whole lines", "[unit]") {
  const auto nest = avx2("def f(float(E,A,B,C) X, float(D,E) W) -> (O) { O(d,c,b,a) +=! X(e,a,b,c) * W(d,e) }",
                         {{"A", 32}, {"B", 64}, {"C", 64}, {"D", 40}, {"E", 16}});
  REQUIRE(nest.packings.size() == 1);
  // Inside the loop over b, outside that over c.
  CHECK(nest.packings[0].depth == 1);
  CHECK(nest.order[0][0] == 2);
}

TEST_CASE("for few passes over them rows from memory are copied whole", "[unit]") {
  const auto is_whole = [](int64_t columns, int64_t matrices) {
    const auto nest = avx2("def f(float(A,D,B) X, float(C,D) W) -> (O) { O(c,b,a) +=! X(a,d,b) * W(c,d) }",
                           {{"A", matrices}, {"B", 156}, {"C", columns}, {"D", 156}});
    REQUIRE(nest.packings.size() == 1);
    const auto& order = nest.order[0];
    const auto vectors = std::find(order.begin(), order.end(), nest.vector_loop());
    return nest.packings[0].depth > 0 && vectors - order.begin() >= nest.packings[0].depth;
  };
  CHECK(is_whole(24, 156));
  CHECK_FALSE(is_whole(240, 156));
  CHECK_FALSE(is_whole(24, 20));  // they come from the second caches
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

TEST_CASE("short rows that follow one another are added up whole", "[unit]") {
  const char* const text = "def f(float(K) v, float(K,N) B) -> (O) { O(n) +=! v(k) * B(k,n) }";
  const auto nest = avx2(text, {{"K", 13208}, {"N", 128}});
  CHECK(nest.tiles == std::vector<std::vector<int64_t>>{{128}});
  CHECK(nest.cpu().lanes == 8);
  // A piece that the second cache holds is as far away as the whole.
  CHECK(avx2(text, {{"K", 2048}, {"N", 400}}).tiles[0] == std::vector<int64_t>{400});
  // All pieces are near.
  CHECK(avx2(text, {{"K", 1024}, {"N", 400}}).tiles[0].back() < 400);
  // In vectors that fill the row.
  const auto narrow = avx2(text, {{"K", 160000}, {"N", 100}});
  CHECK(narrow.tiles[0] == std::vector<int64_t>{100});
  CHECK(narrow.cpu().lanes == 4);
  // Rows of a page, or more than are unrolled, come a few at a time; so do parts of rows.
  CHECK(avx2(text, {{"K", 16000}, {"N", 1024}}).tiles[0].size() == 2);
  CHECK(avx2(text, {{"K", 16000}, {"N", 752}}).tiles[0].size() == 2);
  // No vectors fill a row of 101.
  CHECK(avx2(text, {{"K", 16000}, {"N", 101}}).tiles[0].back() < 101);
  const char* const doubles = "def f(double(K) v, double(K,N) B) -> (O) { O(n) +=! v(k) * B(k,n) }";
  CHECK(avx2(doubles, {{"K", 16000}, {"N", 100}}).tiles[0] == std::vector<int64_t>{100});
  // Of several rows that share what is read tiles are in registers.
  const char* const rows = "def f(float(R,K) v, float(K,N) B) -> (O) { O(r,n) +=! v(r,k) * B(k,n) }";
  CHECK(avx2(rows, {{"R", 6}, {"K", 13208}, {"N", 128}}).tiles[1].back() < 128);
  const auto part = avx2("def f(float(K,C,N) B) -> (O) { O(n) +=! B(k,1,n) }", {{"K", 16000}, {"C", 3}, {"N", 400}});
  CHECK(part.tiles[0].back() < 400);
}

TEST_CASE("minima and maxima take terms together where no window does", "[unit]") {
  const char* const distances = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) min=! A(m,k) + B(k,n) }";
  CHECK(avx2(distances, {{"M", 96}, {"N", 160}, {"K", 88}}).reduction_unroll == std::vector<int>{4});
  CHECK(avx2(distances, {{"M", 96}, {"N", 160}, {"K", 33}}).reduction_unroll == std::vector<int>{3});
  CHECK(avx2(distances, {{"M", 96}, {"N", 160}, {"K", 37}}).reduction_unroll == std::vector<int>{1});
  // Of the innermost loop that has any; of long terms none.
  const char* const two = "def f(float(L,M,K) A, float(K,L,N) B) -> (O) { O(m,n) min=! A(l,m,k) + B(k,l,n) }";
  const auto both = avx2(two, {{"M", 7}, {"N", 160}, {"K", 13}, {"L", 12}});
  CHECK(both.reduction_order.back() == 1);
  CHECK(both.reduction_unroll == std::vector<int>{4, 1});
  // A pair where that makes a body twice as long as usual: 9 x 3 vectors of three operations.
  const char* const differences = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) max=! fabs(A(m,k) - B(k,n)) }";
  const auto zen4 = Space(bound(differences, {{"M", 332}, {"N", 120}, {"K", 64}}), two_threads(64, 32, 1 << 20));
  CHECK(zen4.default_schedule().stages.at(0).nest().reduction_unroll == std::vector<int>{2});
  const char* const exponentials = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) min=! exp(A(m,k) + B(k,n)) }";
  CHECK(avx2(exponentials, {{"M", 96}, {"N", 160}, {"K", 88}}).reduction_unroll == std::vector<int>{1});
  const char* const sums = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! A(m,k) + B(k,n) }";
  CHECK(avx2(sums, {{"M", 96}, {"N", 160}, {"K", 88}}).reduction_unroll == std::vector<int>{1});
  const auto pool =
      avx2("def f(float(C,W) I) -> (O) { O(c,w) max=! I(c,w + k) where k in 0:16 }", {{"C", 64}, {"W", 400}});
  CHECK(pool.reduction_unroll == std::vector<int>{1});
}

TEST_CASE("rows of both operands leave registers for what code holds of either", "[unit]") {
  // 4 x 3 sums beside 3 broadcasts and a vector; beside 2 vectors 2 x 3 x 2 would be 17.
  const auto nest = avx2("def f(float(G,B,F,A) X, float(E,F,C,G) Y) -> (O) { O(e,a,b,c) +=! Y(e,f,c,g) * X(g,b,f,a) }",
                         {{"A", 23}, {"B", 9}, {"C", 16}, {"E", 704}, {"F", 61}, {"G", 3}});
  CHECK(nest.tiles == std::vector<std::vector<int64_t>>{{4}, {1}, {3}, {8}});
}

TEST_CASE("complex results are not transposed where a small copy makes them neighbours", "[unit]") {
  einsum::Known known;
  known.operands = {{DType::C64, {}}, {DType::C64, {}}};
  const auto made = einsum::make_program(einsum::parse("km,nk->mn").value(), known).value();
  const auto program = ir::canonicalize(ir::bind(made.program, {{"k", 4}, {"m", 520}, {"n", 240}}).value());
  const auto nest = Space(program, two_threads(32, 16, 1 << 20)).default_schedule().stages.at(0).nest();
  CHECK(nest.vector_loop() == 1);
  CHECK(nest.packings.size() == 1);
}

TEST_CASE("columns whose lines the second cache has no sets for are copied", "[unit]") {
  const char* const text = "def f(float(K,M) A, float(K,N) B) -> (O) { O(n,m) +=! A(k,m) * B(k,n) }";
  CHECK(avx2(text, {{"K", 1700}, {"M", 1024}, {"N", 2048}}).packings.size() == 2);
  // Vectors run along the one whose lines have one place in their pages, if the other's have more.
  const auto wide = avx2(text, {{"K", 1700}, {"M", 1024}, {"N", 336}});
  CHECK(wide.vector_loop() == 1);
  CHECK(wide.packings.size() == 2);  // 1024 columns make panels enough for a copy of the rows
  CHECK(avx2(text, {{"K", 1700}, {"M", 336}, {"N", 1024}}).vector_loop() == 0);
  // A tensor that no cache holds is copied inside of loops that lead to other lines of it, a second cache's at a time.
  const auto contraction =
      bound("def f(float(F,E,A) X, float(E,B,C,F,D) Y) -> (O) { O(c,a,d,f,b) +=! X(f,e,a) * Y(e,b,c,f,d) }",
            {{"A", 64}, {"B", 64}, {"C", 20}, {"D", 32}, {"E", 64}, {"F", 4}});
  const auto tiles = Space(contraction, two_threads(32, 16, 1 << 19)).default_schedule().stages.at(0).nest();
  REQUIRE(tiles.packings.size() == 1);
  CHECK(tiles.packings[0].operand == 1);
  CHECK(tiles.packings[0].depth == 4);
}

TEST_CASE("rows that are neighbours are copied as well where many panels read them from the second cache", "[unit]") {
  const auto copied = [](int64_t m, int64_t n, int64_t k) {
    const auto nest = avx2("def f(float(K,M) X, float(K,N) Y) -> (O) { O(m,n) +=! X(k,m) * Y(k,n) }",
                           {{"M", m}, {"N", n}, {"K", k}}, with_large_last_cache());
    REQUIRE(nest.cpu().vector_loop == 1);
    REQUIRE(nest.tiles[0].back() > 1);
    for (const auto& packing : nest.packings)
      if (packing.operand == 0) {
        CHECK(packing.depth == 0);
        CHECK(packing.order == std::vector<int>{0, 1});  // along the sum
        return true;
      }
    return false;
  };
  CHECK(copied(488, 3700, 784));
  CHECK_FALSE(copied(488, 3700, 100));  // a tile's 100 lines wait in the first cache for the next
  CHECK_FALSE(copied(488, 240, 784));   // ten panels
  CHECK_FALSE(copied(16, 3700, 784));   // tiles beside each other read whole lines
}

TEST_CASE("a sum whose vectors come from memory walks in their order", "[unit]") {
  // The sum's loops are f, g and e.
  const char* const text =
      "def f(float(F,E,A,G) X, float(F,C,G,E,N) Y) -> (O) { O(n,a,c) +=! X(f,e,a,g) * Y(f,c,g,e,n) }";
  const auto nest = avx2(text, {{"A", 8}, {"C", 2}, {"E", 64}, {"F", 64}, {"G", 16}, {"N", 96}});
  CHECK(nest.reduction_order == std::vector<int>{0, 1, 2});
  // Else in that of the other operand.
  const auto cached = avx2(text, {{"A", 8}, {"C", 2}, {"E", 64}, {"F", 4}, {"G", 16}, {"N", 96}});
  CHECK(cached.reduction_order == std::vector<int>{0, 2, 1});
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
