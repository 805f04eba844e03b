// What the analytical model chooses where the right choice is known, on a machine described here, not the one it runs
// on.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

using codegen::NestSchedule;

codegen::Target avx512() { return two_threads(64, 32, 1 << 20); }

NestSchedule chosen(const ir::Program& program, const codegen::Target& target = avx512()) {
  const auto schedule = Space(program, target).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

int64_t accumulators(const NestSchedule& stage) {
  int64_t product = 1;
  for (const auto& tiles : stage.tiles) product *= tiles.back();
  return product / stage.cpu().lanes;
}

}  // namespace

TEST_CASE("a grouped convolution with short rows runs along its channels", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(N,G,C,H,W) I, float(G,F,C,KH,KW) K) -> (O) "
                   "{ O(n,g,f,h,w) +=! I(n,g,c,h+kh,w+kw) * K(g,f,c,kh,kw) }",
                   {{"N", 32}, {"G", 32}, {"C", 32}, {"F", 32}, {"H", 7}, {"W", 7}, {"KH", 3}, {"KW", 3}}));
  CHECK(stage.cpu().vector_loop == 2);
  CHECK(stage.cpu().lanes == 16);
  CHECK(accumulators(stage) >= 8);
  // The weights of a group are copied once, inside the loop over groups, with channels innermost.
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].operand == 1);
  CHECK(stage.packings[0].depth == 1);
  CHECK(stage.packings[0].order.front() == 1);
  CHECK(stage.order[0].front() == 1);
}

TEST_CASE("small weights are copied once, not in loops that do not use them", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(N,H,W,C) I, float(C,KH,KW) K) -> (O) "
                   "{ O(n,h,w,c) +=! I(n,h+kh,w+kw,c) * K(c,kh,kw) }",
                   {{"N", 1}, {"H", 58}, {"W", 58}, {"C", 128}, {"KH", 3}, {"KW", 3}}));
  CHECK(stage.cpu().vector_loop == 3);
  CHECK(stage.reduction_unroll == std::vector<int>{3, 3});
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].depth == 0);
}

TEST_CASE("products keep their accumulators within the registers", "[unit]") {
  for (const int64_t extent : {17, 64, 100, 512}) {
    const auto stage = chosen(bound("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                    {{"M", extent}, {"N", extent}, {"K", extent}}));
    CHECK(stage.cpu().vector_loop == 1);
    CHECK(accumulators(stage) >= 8);
    CHECK(accumulators(stage) + stage.tiles[1].back() / stage.cpu().lanes < 32);
  }
}

TEST_CASE("other widths of the register tile are offered beside the default", "[unit]") {
  const auto program = bound("def f(float(I,J,K) A, float(K,L) B) -> (O) { O(i,j,l) +=! A(i,j,k) * B(k,l) }",
                             {{"I", 64}, {"J", 64}, {"K", 256}, {"L", 256}});
  const Space space(program, avx512(), Dimensions::Apart);
  using Width = std::pair<int, int64_t>;  // vector loop, elements along it
  const auto width = [](const NestSchedule& stage) {
    return Width(stage.cpu().vector_loop, stage.tiles[stage.cpu().vector_loop].back());
  };
  std::set<Width> widths{width(space.default_schedule().stages[0].nest())};
  const auto alternatives = space.default_alternatives();
  CHECK(alternatives.size() >= 2);
  for (const auto& schedule : alternatives) {
    CHECK(codegen::check(program, schedule).has_value());
    CHECK(widths.insert(width(schedule.stages[0].nest())).second);
    CHECK(accumulators(schedule.stages[0].nest()) <= 28);
  }
  CHECK(widths.count({2, 16}) == 1);  // a single vector and many rows: 1.13 times as fast as the default on Zen 4
  const auto pool =
      bound("def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) max=! I(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2 }",
            {{"N", 3}, {"C", 5}, {"H", 13}, {"W", 17}});
  CHECK(Space(pool, avx512(), Dimensions::Apart).default_alternatives().empty());
}

TEST_CASE("half vectors fill rows that whole ones do not, where they cost half", "[unit]") {
  const auto program = bound("def f(float(B,M,K) A, float(B,K,N) C) -> (O) { O(b,m,n) +=! A(b,m,k) * C(b,k,n) }",
                             {{"B", 500}, {"M", 72}, {"N", 72}, {"K", 26}});
  const auto lanes_on = [&](codegen::Feature instructions, codegen::Processor processor) {
    auto target = avx512();
    target.features = {instructions};
    target.tuned_for = processor;
    const auto stage = Space(program, target).default_schedule().stages.at(0).nest();
    CHECK(stage.cpu().vector_loop == 2);
    if (stage.cpu().lanes == 8) CHECK(stage.tiles == std::vector<std::vector<int64_t>>{{1}, {2}, {72}});
    return stage.cpu().lanes;
  };
  CHECK(lanes_on(codegen::Feature::Avx512Zen4, codegen::Processor::ZnVer4) == 8);
  CHECK(lanes_on(codegen::Feature::Avx512Zen5, codegen::Processor::ZnVer5) == 16);
  CHECK(lanes_on(codegen::Feature::Avx512SapphireRapids, codegen::Processor::Any) == 16);
}

TEST_CASE("loops shorter than a vector take halves of one where these cost half", "[unit]") {
  const auto program = bound("def f(float(B,K,M) A, float(K,B,N) C) -> (O) { O(m,b,n) +=! A(b,k,m) * C(k,b,n) }",
                             {{"B", 14}, {"K", 4}, {"M", 42}, {"N", 14}});
  const auto with = [&](codegen::Processor processor) {
    auto target = avx512();
    target.tuned_for = processor;
    return Space(program, target).default_schedule().stages.at(0).nest();
  };
  // The results are neighbours along n, whose 14 do not fill a vector.
  const auto halves = with(codegen::Processor::ZnVer4);
  CHECK(halves.vector_loop() == 2);
  CHECK(halves.lanes() == 8);
  CHECK(with(codegen::Processor::Any).lanes() == 16);
}

TEST_CASE("small elements are transposed in blocks that compile", "[unit]") {
  // 32 x 32 of 16 bits took minutes to compile, and 3 to 9 times as long to run as 16 x 16.
  for (const char* type : {"int8", "int16", "float", "double"}) {
    CAPTURE(type);
    const auto stage =
        chosen(bound(std::string("def f(") + type + "(A,B) I) -> (O) { O(b,a) = I(a,b) }", {{"A", 512}, {"B", 512}}));
    CHECK(stage.lanes() == (std::string(type) == "double" ? 8 : 16));
    for (const auto& tiles : stage.tiles) CHECK(tiles.back() == stage.lanes());
  }
}

TEST_CASE("copies whose common runs are short take whole lines of either side", "[unit]") {
  // Runs of two floats: eight to a line. Blocks of runs that fill half a line would gain nothing.
  const auto tiles_of = [](int64_t run) {
    const auto stage =
        chosen(bound("def f(float(A,B,C) I) -> (O) { O(b,a,c) = I(a,b,c) }", {{"A", 144}, {"B", 128}, {"C", run}}));
    CHECK(stage.vector_loop() == 2);
    std::vector<int64_t> tiles;
    for (const auto& tile : stage.tiles) tiles.push_back(tile.back());
    return tiles;
  };
  CHECK(tiles_of(2) == std::vector<int64_t>{8, 8, 2});
  CHECK(tiles_of(8) == std::vector<int64_t>{2, 2, 8});
  CHECK(tiles_of(16)[0] == 1);
  // Where both go on along one loop vectors are along that.
  const auto program = bound("def f(float(A,C) I) -> (O) { O(a,c) = I(a,c) }", {{"A", 144}, {"C", 2}});
  const auto stage = Space(program, avx512(), Dimensions::Apart).default_schedule().stages[0].nest();
  CHECK(stage.vector_loop() == 0);
  CHECK(stage.lanes() == 16);
  CHECK(stage.tiles == std::vector<std::vector<int64_t>>{{16}, {2}});
}

TEST_CASE("short runs of the target are joined until blocks can be transposed", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(A,B,C) I) -> (O) { O(c,b,a) = I(a,b,c) }", {{"A", 6}, {"B", 256}, {"C", 64}}));
  CHECK(stage.vector_loop() == 0);
  std::vector<int64_t> tiles;
  for (const auto& tile : stage.tiles) tiles.push_back(tile.back());
  CHECK(tiles == std::vector<int64_t>{16, 4, 6});
  CHECK(stage.order.back() == std::vector<int>{0, 1, 2});
}

TEST_CASE("rows and taps of a window that share sets of the first cache are not held together", "[unit]") {
  // Images, and lines of one, lie whole pages apart: five lines of two images are more than eight ways.
  const std::string text =
      "def conv(float(N,X,Y,G) I, float(G,5,5) K) -> (O) { O(n,x,y,g) +=! I(n,x + kx,y + ky,g) * K(g,kx,ky) "
      "where kx in 0:5, ky in 0:5 }";
  const auto tiles_of = [&](int64_t channels) {
    std::vector<int64_t> tiles;
    for (const auto& tile : chosen(bound(text, {{"N", 14}, {"X", 20}, {"Y", 1024 / channels}, {"G", channels}})).tiles)
      tiles.push_back(tile.back());
    return tiles;
  };
  CHECK(tiles_of(64)[0] == 1);
  CHECK(tiles_of(64)[1] == 1);
}

TEST_CASE("rows from far away are read once rather than by every panel", "[unit]") {
  // The weights are 176 KB, more than half of the second cache; images are 13 MB and 0.5, beside a last cache of 8.
  const auto avx2 = two_threads(32, 16, 256 << 10);
  const auto outermost = [&](int64_t images, int64_t height) {
    return chosen(bound("def conv(float(N,C,X,Y) I, float(F,C,2,2) K) -> (O) { O(n,f,x,y) +=! I(n,c,2*x + kx,2*y + ky) "
                        "* K(f,c,kx,ky) where kx in 0:2, ky in 0:2 }",
                        {{"N", images}, {"C", 128}, {"F", 88}, {"X", 2 * height}, {"Y", 17}}),
                  avx2)
        .order.front()
        .front();
  };
  CHECK(outermost(8, 96) == 0);
  CHECK(outermost(1, 28) == 1);
}

TEST_CASE("tiles of collected results leave pieces for all threads", "[unit]") {
  const auto stage = chosen(bound("def f(bfloat16(K,M) A, bfloat16(K,N) B) -> (O) { O(m,n) +=! A(k,m) * B(k,n) }",
                                  {{"K", 64}, {"M", 696}, {"N", 8}}));
  CHECK_FALSE(stage.parallel_reduction);
  CHECK(stage.cpu().parallel >= 1);
}

TEST_CASE("parallel loops are those that are left where results are collected", "[unit]") {
  // All eight of the batch lie at home together: the loop around them runs once.
  const auto stage = chosen(bound("def f(float(K,B,M) A, float(N,K,B) C) -> (O) { O(n,m,b) +=! A(k,b,m) * C(n,k,b) }",
                                  {{"B", 8}, {"K", 208}, {"M", 128}, {"N", 256}}));
  CHECK(stage.tiles.size() == 3);
  CHECK(stage.tiles.at(2).front() == 8);
  CHECK(stage.tiles.at(2).back() == 1);
  CHECK(stage.cpu().parallel == 1);
}

TEST_CASE("small products along whose reduction both operands lie reduce in lanes", "[unit]") {
  const auto program_of = [](int64_t side, int64_t depth) {
    return bound("def f(float(B,M,K) A, float(B,N,K) C) -> (O) { O(b,m,n) +=! A(b,m,k) * C(b,n,k) }",
                 {{"B", 500}, {"M", side}, {"N", side}, {"K", depth}});
  };
  auto target = avx512();
  target.features = {codegen::Feature::Avx512Zen4};
  target.tuned_for = codegen::Processor::ZnVer4;
  const auto lanes = [&](const ir::Program& program) {
    const auto stage = Space(program, target).default_schedule().stages.at(0).nest();
    if (stage.cpu().vector_loop != 3) return 0;
    CHECK(stage.packings.empty());
    const int64_t sums = stage.tiles[1].back() * stage.tiles[2].back();
    CHECK((sums >= 16 && sums <= 28));
    CHECK(std::min(stage.tiles[1].back(), stage.tiles[2].back()) >= 2);
    return stage.cpu().lanes;
  };
  CHECK(lanes(program_of(26, 72)) == 8);    // 26 columns in vectors of 16 leave 6 of 32 lanes empty
  CHECK(lanes(program_of(64, 64)) == 0);    // no lane is empty then
  CHECK(lanes(program_of(26, 4096)) == 0);  // does not fit the first cache
  target.deterministic = true;
  CHECK(lanes(program_of(26, 72)) == 0);
}

TEST_CASE("matrix-vector products still reduce in lanes", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(R,C) A, float(C) B) -> (o) { o(i) +=! A(i,j) * B(j) }", {{"R", 4096}, {"C", 4096}}));
  CHECK(stage.cpu().vector_loop == 1);
  // As many lanes as a short row fills: 4096 rows of 11 took 7 times as long by strided loads.
  const auto [rows, length] = GENERATE(std::pair{4096, 11}, std::pair{1640, 8});
  const auto of_short_rows =
      chosen(bound("def f(float(N,K) A, float(K) x) -> (y) { y(n) +=! A(n,k) * x(k) }", {{"N", rows}, {"K", length}}));
  CHECK(of_short_rows.cpu().vector_loop == 1);
  CHECK(of_short_rows.cpu().lanes == 8);
}

TEST_CASE("products with a few columns reduce in lanes of tiles that hold them all", "[unit]") {
  const auto stage = chosen(bound("def f(double(M,K) A, double(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
                                  {{"M", 253}, {"N", 5}, {"K", 344}}));
  CHECK(stage.cpu().vector_loop == 2);
  CHECK(stage.tiles[1].back() == 5);
  CHECK(stage.tiles[0].back() >= 2);
  CHECK(stage.packings.empty());
}

TEST_CASE("a few columns across a long sum are copied, so that it reduces in lanes", "[unit]") {
  const auto product = [](int64_t rows, int64_t columns, int64_t length) {
    return chosen(bound("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                        {{"M", rows}, {"N", columns}, {"K", length}}));
  };
  const auto stage = product(64, 3, 4096);
  CHECK(stage.cpu().vector_loop == 2);
  CHECK(stage.tiles[1].back() == 3);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0] == codegen::Packing{1, 1, {0, 1}});  // by each thread
  CHECK(product(256, 16, 408).cpu().vector_loop == 1);         // fill a vector
}

TEST_CASE("the pieces of a tall sum are shared out alone", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(K,M) A, float(K) b) -> (o) { o(m) +=! A(k,m) * b(k) }", {{"K", 14400}, {"M", 275}}));
  REQUIRE(stage.parallel_reduction);
  CHECK(stage.cpu().parallel == 0);
  CHECK(stage.cpu().vector_loop == 0);
  CHECK(stage.tiles[0] == std::vector<int64_t>{144});  // half a row in nine registers
}

TEST_CASE("short rows have as many sums in flight as hide their latency", "[unit]") {
  const auto of_columns =
      chosen(bound("def f(float(A,B,C) I) -> (O) { O(a,c) max=! I(a,b,c) }", {{"A", 128}, {"B", 71}, {"C", 4}}));
  CHECK(of_columns.cpu().lanes == 4);
  CHECK(of_columns.tiles == std::vector<std::vector<int64_t>>{{8}, {4}});
  // In lanes where loads along the output would be strided.
  const auto of_rows = chosen(bound("def f(float(A,B) I) -> (O) { O(a) +=! I(a,b) }", {{"A", 4096}, {"B", 8}}));
  CHECK(of_rows.cpu().vector_loop == 1);
  CHECK(of_rows.cpu().lanes == 8);
  CHECK(of_rows.tiles[0].back() == 8);
  // A long row has enough alone.
  const auto long_rows = chosen(bound("def f(float(A,B) I) -> (O) { O(a) +=! I(a,b) }", {{"A", 64}, {"B", 4096}}));
  CHECK(long_rows.tiles[0].back() == 1);
  CHECK(long_rows.reduction_unroll == std::vector<int>{8});
}

TEST_CASE("rows of a tile that share a set of the first cache are no more than it has places", "[unit]") {
  const auto stage = chosen(bound(
      "def f(float(N,X,Y,G) I, float(G,7,7) K) -> (O) { O(n,x,y,g) +=! I(n,2*x+i,2*y+j,g) * K(g,i,j) where x in 0:29,"
      " y in 0:45, i in 0:7, j in 0:7 }",
      {{"N", 14}, {"X", 64}, {"Y", 96}, {"G", 21}}));
  CHECK(stage.cpu().vector_loop == 3);
  CHECK(stage.tiles[0].back() <= 8);  // images are a multiple of 4096 bytes apart
  CHECK(accumulators(stage) >= 8);
}

TEST_CASE("what dot products take as vectors is copied once", "[unit]") {
  auto target = avx512();
  target.features = {codegen::Feature::Avx512Zen4};
  const auto program = bound("def f(bfloat16(K,M) A, bfloat16(N,K) B) -> (float(M,N) C) { C(m,n) +=! A(k,m) * B(n,k) }",
                             {{"M", 168}, {"N", 550}, {"K", 504}});
  const auto stage = Space(program, target).default_schedule().stages.at(0).nest();
  REQUIRE(stage.dot_product);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].depth == 0);
}

TEST_CASE("threads are started for as much work as is worth it", "[unit]") {
  CHECK(chosen(matmul(32, 32, 32)).cpu().parallel == 0);
  CHECK(chosen(matmul(48, 48, 48)).cpu().parallel == 0);  // 3 us
  CHECK(chosen(matmul(64, 64, 64)).cpu().parallel > 0);
}

TEST_CASE("a long sum of no elements is not cut into pieces", "[unit]") {
  const auto text = "def f(float(K,N) A) -> (O) { O(n) +=! A(k,n) }";
  CHECK(chosen(bound(text, {{"K", 4000000}, {"N", 1}})).parallel_reduction);
  CHECK_FALSE(chosen(bound(text, {{"K", 4000000}, {"N", 0}})).parallel_reduction);
}

TEST_CASE("many short rows share what adds up their lanes", "[unit]") {
  const auto rows_of = [](int64_t length) {
    return chosen(
        bound("def f(float(N,K) A, float(K) x) -> (y) { y(n) +=! A(n,k) * x(k) }", {{"N", 3093}, {"K", length}}));
  };
  CHECK(rows_of(26).cpu().lanes == 16);
  CHECK(rows_of(26).tiles[0].back() == 8);
  CHECK(rows_of(4096).tiles[0].back() == 4);
}

TEST_CASE("maxima of whole rows from beyond the second caches take them one by one", "[unit]") {
  const auto unrolled = [](int64_t results, int64_t rows) {
    return chosen(bound("def f(float(A,B,C) I) -> (O) { O(a,c) max=! I(a,b,c) }",
                        {{"A", results}, {"B", rows}, {"C", 128}}))
        .reduction_unroll.at(0);
  };
  CHECK(unrolled(105, 2496) == 1);
  CHECK(unrolled(16, 128) == 4);  // near
}

TEST_CASE("short rows from beyond the second caches follow each other", "[unit]") {
  const auto rows_of = [](int64_t count, int64_t length) {
    return chosen(
        bound("def f(float(N,K) A, float(K) x) -> (y) { y(n) +=! A(n,k) * x(k) }", {{"N", count}, {"K", length}}));
  };
  CHECK(rows_of(65536, 256).tiles[0].back() == 1);
  CHECK(rows_of(65536, 256).reduction_unroll == std::vector<int>{8});  // sums enough in flight
  CHECK(rows_of(65536, 64).tiles[0].back() == 1);
  CHECK(rows_of(4096, 128).tiles[0].back() == 4);  // near
  CHECK(rows_of(65536, 16).tiles[0].back() == 8);  // a line each, whose lanes are added up together
  CHECK(rows_of(3000, 2049).tiles[0].back() == 4);
  // Rows side by side are longer than those that one sum takes.
  const auto text = "def f(float(A,B,C,D) I) -> (O) { O(a,c) +=! I(a,b,c,d) }";
  CHECK(chosen(bound(text, {{"A", 64}, {"B", 80}, {"C", 16}, {"D", 72}})).tiles[1].back() == 4);
}

TEST_CASE("what is copied for vectors along a batch is copied once for each of them", "[unit]") {
  const auto text = "def f(float(B,K,M) A, float(N,K,B) C) -> (O) { O(n,m,b) +=! A(b,k,m) * C(n,k,b) }";
  const auto stage = chosen(bound(text, {{"B", 398}, {"K", 24}, {"M", 186}, {"N", 147}}));
  CHECK(stage.cpu().vector_loop == 2);
  CHECK(stage.order[0].front() == 2);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].depth == 1);
}

TEST_CASE("a matrix from memory that few rows read is read in long pieces", "[unit]") {
  // The rows as they lie, across, and of a number that no tile of several divides.
  const auto across = "def f(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";
  const auto [rows, text] =
      GENERATE_COPY(std::pair{8, kMatmul}, std::pair{8, std::string(across)}, std::pair{7, kMatmul});
  const auto stage = chosen(matmul(rows, 13160, 1024, text));
  REQUIRE(stage.tiles[1].size() == 2);
  CHECK(stage.tiles[1].front() * 4 >= 1024);                               // bytes of a piece
  CHECK(stage.tiles[1].front() * stage.tiles[0].front() * 4 <= 16 << 10);  // of the sums, half the first cache
  CHECK(stage.tiles[0].front() == rows);
  CHECK(stage.reduction_block == std::vector<int64_t>{8});
  CHECK(chosen(matmul(rows, 13160, 1030, text)).reduction_block == std::vector<int64_t>{10});
  CHECK(chosen(matmul(rows, 13160, 1033, text)).reduction_block == std::vector<int64_t>{8});  // a prime
  CHECK(chosen(matmul(8, 200, 1024)).tiles[1].size() == 1);                                   // near
  CHECK(chosen(matmul(64, 13160, 1024)).tiles[1].size() == 1);                                // used again
}

TEST_CASE("sums of long runs far apart stay in registers", "[unit]") {
  const auto text = "def f(float(A,B,C,D) I) -> (O) { O(b,d) +=! I(a,b,c,d) }";
  CHECK(chosen(bound(text, {{"A", 32}, {"B", 112}, {"C", 24}, {"D", 64}})).tiles[1] == std::vector<int64_t>{64});
  // A row of 256 bytes, then another page.
  CHECK(chosen(bound(text, {{"A", 768}, {"B", 112}, {"C", 1}, {"D", 64}})).tiles[1].size() == 2);
}

TEST_CASE("what goes into dot products together is brought side by side", "[unit]") {
  auto target = avx512();
  target.features = {codegen::Feature::Avx512Zen4};
  const auto packings = [&](const std::string& order) {
    const auto program = bound("def f(int8(" + order + ") A, int8(K,N) B) -> (int32(M,N) C) { C(m,n) +=! A(" +
                                   (order == "K,M" ? "k,m" : "m,k") + ") * B(k,n) }",
                               {{"M", 400}, {"N", 64}, {"K", 256}});
    return Space(program, target).default_schedule().stages.at(0).nest().packings.size();
  };
  CHECK(packings("M,K") == 1);
  CHECK(packings("K,M") == 2);
}

TEST_CASE("panels are shared out where one thread would copy them for long", "[unit]") {
  auto target = avx512();
  target.features = {codegen::Feature::Avx512Zen4};
  const auto stage_of = [&](int64_t m, int64_t n, int64_t k) {
    const auto program =
        bound("def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }",
              {{"M", m}, {"N", n}, {"K", k}});
    return Space(program, target).default_schedule().stages.at(0).nest();
  };
  const auto few_rows = stage_of(8, 512, 300);
  CHECK(few_rows.order[0].front() == 1);
  CHECK(few_rows.cpu().parallel == 1);
  REQUIRE(few_rows.packings.size() == 1);
  CHECK(few_rows.packings[0].depth == 1);
  CHECK(stage_of(4000, 64, 300).order[0].front() == 0);  // one panel

  // Hardly shorter to copy, where rows stay near and sums are long.
  const auto product = [](int64_t k) {
    return chosen(matmul(128, 256, k, "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"),
                  two_threads(32, 16, 256 << 10));
  };
  CHECK(product(32).order[0].front() == 1);
  CHECK(product(8).order[0].front() == 0);
}

TEST_CASE("panels that would lie in pieces in a copy of all are shared out, if threads have as many", "[unit]") {
  const auto copied_at = [](int64_t m, int64_t k) {
    const auto stage =
        chosen(matmul(m, 768, k, "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"));
    REQUIRE(stage.cpu().vector_loop == 0);
    REQUIRE(stage.packings.size() == 1);
    return stage.packings[0].depth;
  };
  CHECK(copied_at(256, 3072) == 1);
  CHECK(copied_at(256, 1024) == 1);
  CHECK(copied_at(320, 1024) == 0);  // five panels, of a quarter of the second cache
  CHECK(copied_at(320, 3072) == 1);  // of three quarters
}

TEST_CASE("narrow numbers by a few columns are summed in lanes along the sum", "[unit]") {
  auto target = avx512();
  target.features = {codegen::Feature::Avx512Zen4};
  const auto stage_of = [&](const std::string& type, const std::string& result) {
    const auto program = bound(
        "def f(" + type + "(M,K) A, " + type + "(K,N) B) -> (" + result + "(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }",
        {{"M", 300}, {"N", 6}, {"K", 256}});
    return Space(program, target).default_schedule().stages.at(0).nest();
  };
  for (const auto& [type, result] : {std::pair{"float16", "float"}, {"bfloat16", "float"}, {"int8", "int32"}}) {
    CAPTURE(type);
    const auto stage = stage_of(type, result);
    CHECK(stage.cpu().vector_loop == 2);
    CHECK(stage.dot_product == (std::string(type) != "float16"));
    CHECK(stage.packings.size() == 1);  // of the columns
  }
}

TEST_CASE("results that no cache holds stay in blocks, whose operands are read again from further away", "[unit]") {
  // A head's keys and values are half of the second cache, a row beside them more; scores are 33 MB or 2.
  const std::string attention =
      "def f(float(H,I,D) Q, float(H,J,D) K, float(H,J,D) V) -> (O) {"
      " S(h,i,j) +=! Q(h,i,d) * K(h,j,d)  m(h,i) max=! S(h,i,j)  E(h,i,j) = exp(S(h,i,j) - m(h,i))"
      " z(h,i) +=! E(h,i,j)  P(h,i,j) = E(h,i,j) / z(h,i)  O(h,i,d) +=! P(h,i,j) * V(h,j,d) }";
  const auto joined = [&](int64_t heads) {
    const auto program = bound(attention, {{"H", heads}, {"I", 512}, {"J", 512}, {"D", 64}});
    const auto schedule = Space(program, two_threads(32, 16, 256 << 10)).default_schedule();
    REQUIRE(codegen::check(program, schedule).has_value());
    return std::count_if(schedule.stages.begin(), schedule.stages.end(),
                         [](const auto& stage) { return stage.compute_at() && stage.compute_at()->statement == 5; });
  };
  CHECK(joined(32) == 5);
  CHECK(joined(2) == 0);
}

TEST_CASE("layers for a batch of one block are computed once, each with its own loops", "[unit]") {
  const auto program = bound(
      "def f(float(B,M) I, float(M,N) V, float(P,N) W) -> (O) {"
      " H(b,n) +=! I(b,m) * V(m,n)  O(b,p) +=! H(b,n) * W(p,n) }",
      {{"B", 5}, {"M", 496}, {"N", 128}, {"P", 24}});
  const auto schedule = Space(program, avx512()).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  CHECK_FALSE(schedule.stages.front().compute_at());
}

TEST_CASE("blocks of a fused chain end where the rows do, but for two percent", "[unit]") {
  const auto program = bound(
      "def f(float(H,Q,D) q, float(H,K,D) k, float(H,K,D) v) -> (O) {"
      " s(h,i,j) +=! q(h,i,d) * k(h,j,d)  m(h,i) max=! s(h,i,j)  e(h,i,j) = exp(s(h,i,j) - m(h,i))"
      " z(h,i) +=! e(h,i,j)  p(h,i,j) = e(h,i,j) / z(h,i)  O(h,i,d) +=! p(h,i,j) * v(h,j,d) }",
      {{"H", 32}, {"Q", 512}, {"K", 512}, {"D", 64}});
  const auto schedule = Space(program, avx512()).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  const auto& host = schedule.stages.back().nest();
  REQUIRE(schedule.stages.front().compute_at());
  REQUIRE(host.tiles.at(1).size() == 2);
  const int64_t rows = host.tiles[1].front(), tile = host.tiles[1].back();
  const auto computed = [](int64_t size) { return (512 + size - 1) / size * size; };
  CHECK(rows > tile);
  CHECK(computed(rows) <= 1.02 * static_cast<double>(computed(tile)));
}

TEST_CASE("rows whose elements are neighbours of an operand are taken one after the other", "[unit]") {
  const auto stage =
      chosen(bound("def f(float(D,A,B,F,E) X, float(F,C) W) -> (O) { O(e,d,c,b,a) +=! X(d,a,b,f,e) * W(f,c) }",
                   {{"A", 9}, {"B", 5}, {"C", 32}, {"D", 13}, {"E", 24}, {"F", 31}}));
  REQUIRE(stage.cpu().vector_loop == 2);
  // X has its elements along e, the first loop, in one line; those along d and b lie apart. The target has them the
  // other way.
  const auto& order = stage.order.front();
  const bool has_all_of_d = stage.tiles[1].front() == 13, has_all_of_b = stage.tiles[3].front() == 5;
  CHECK(has_all_of_d != has_all_of_b);
  const int other = has_all_of_d ? 3 : 1;
  CHECK(std::find(order.begin(), order.end(), other) < std::find(order.begin(), order.end(), 0));
}

TEST_CASE("a small network is a block a thread, whatever the height of its tiles", "[unit]") {
  for (const int64_t rows : {127, 128, 131}) {
    const auto program = bound(
        "def f(float(B,N) I, float(O,N) V, float(Q,O) W) -> (R) {"
        " T(b,o) +=! I(b,n) * V(o,n)  R(b,q) +=! T(b,o) * W(q,o) }",
        {{"B", rows}, {"N", 64}, {"O", 32}, {"Q", 2}});
    const auto schedule = Space(program, avx512()).default_schedule();
    REQUIRE(codegen::check(program, schedule).has_value());
    const auto& host = schedule.stages.back().nest();
    REQUIRE(schedule.stages.front().compute_at());
    CAPTURE(rows, host.tiles[0].front(), host.tiles[0].back());
    CHECK(host.cpu().parallel == 1);
    CHECK((rows + host.tiles[0].front() - 1) / host.tiles[0].front() == 2);
  }
}

TEST_CASE("a copy stays inside the loops it was in when loops that run once move", "[unit]") {
  const auto program = bound("def f(float(B,M,K) A, float(B,K,N) C) -> (O) { O(b,m,n) +=! A(b,m,k) * C(b,k,n) }",
                             {{"B", 1}, {"M", 64}, {"N", 64}, {"K", 64}});
  codegen::Schedule schedule;
  NestSchedule stage;
  stage.tiles = {{1}, {8}, {32}};
  stage.order = {{0, 2, 1}};  // the batch runs once
  stage.cpu().vector_loop = 2;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {64};
  stage.reduction_unroll = {1};
  stage.packings = {{1, 2, {2, 1, 0}}};  // once a panel of n
  schedule.stages = {stage};
  const auto repaired = Space(program, avx512()).adapt(schedule).schedule.stages.at(0).nest();
  CHECK(repaired.order == std::vector<std::vector<int>>{{2, 1, 0}});
  REQUIRE(repaired.packings.size() == 1);
  CHECK(repaired.packings[0].depth == 1);
}

}  // namespace tile_tune::search
