// Defaults of windows whose rows overlap, and of products whose batch is innermost.
#include <catch2/catch.hpp>
#include <string>

#include "codegen/schedule/check.h"
#include "codegen/schedule/loops.h"
#include "search/space/register_tile.h"
#include "search/space/space.h"
#include "search/space/window_taps.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

constexpr const char* kDepthwise =
    "def f(float(N,C,Y,X) I, float(C,3,3) W) -> (O) { O(n,c,y,x) +=! (y + i - 1 >= 0 && y + i - 1 < Y && x + j - 1 >= "
    "0 && x + j - 1 < X ? I(n,c,y + i - 1,x + j - 1) : 0) * W(c,i,j) where y in 0:Y, x in 0:X, i in 0:3, j in 0:3 }";
constexpr const char* kBatchInnermost =
    "def f(float(K,M,B) P, float(B,N,K) Q) -> (O) { O(m,n,b) +=! P(k,m,b) * Q(b,n,k) }";

codegen::NestSchedule nest_of(const char* text, const ir::Sizes& sizes) {
  auto target = two_threads(64, 32, 1 << 20);
  target.features = {codegen::Feature::Avx512Zen4};
  const auto program = bound(text, sizes);
  const auto schedule = Space(program, target).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

}  // namespace

TEST_CASE("rows of an image share what they read, and images are taken one after the other", "[unit]") {
  const auto nest = nest_of(kDepthwise, {{"N", 8}, {"C", 128}, {"Y", 56}, {"X", 56}});
  CHECK(nest.cpu().vector_loop == 3);
  CHECK(nest.tiles[0].back() == 1);
  CHECK(nest.tiles[2].back() > 1);
  CHECK(nest.order[0] == std::vector<int>{0, 1, 2, 3});
  // Of the taps, those along which rows overlap are innermost.
  CHECK(nest.reduction_order == std::vector<int>{1, 0});
}

TEST_CASE("of a large window the taps that rows share are unrolled, where loads take longer than arithmetic",
          "[unit]") {
  const auto nest = [](const std::string& text, const ir::Sizes& sizes) {
    const auto program = bound(text, sizes);
    return Space(program, two_threads(32, 16, 1 << 20)).default_schedule().stages.at(0).nest();
  };
  const auto depthwise =
      nest("def f(float(N,Y,X,C) I, float(C,7,7) W) -> (O) { O(n,y,x,c) +=! I(n,y + i,x + j,c) * W(c,i,j) }",
           {{"N", 4}, {"Y", 49}, {"X", 58}, {"C", 64}});
  CHECK(depthwise.vector_loop() == 3);
  REQUIRE(depthwise.reduction_unroll[0] * depthwise.reduction_unroll[1] == 7);
  const int unrolled = depthwise.reduction_unroll[0] == 7 ? 0 : 1;
  CHECK(depthwise.tiles[1 + unrolled].back() > 2);
  CHECK(depthwise.reduction_order.back() == unrolled);
  // Each vector of pixels meets several filters.
  const auto dense =
      nest("def f(float(N,C,Y,X) I, float(F,C,7,7) W) -> (O) { O(n,f,y,x) +=! I(n,c,y + i,x + j) * W(f,c,i,j) }",
           {{"N", 1}, {"C", 16}, {"Y", 40}, {"X", 70}, {"F", 32}});
  CHECK(dense.reduction_unroll == std::vector<int>{1, 1, 1});
}

TEST_CASE("sums of a pixel's channels stay in registers over a large window", "[unit]") {
  const auto pool = [](const std::string& read, const ir::Sizes& sizes) {
    const auto program = bound("def f(float(N,X,Y,C) I) -> (O) { O(n,x,y,c) max=! " + read + " }", sizes);
    return Space(program, two_threads(32, 16, 256 << 10)).default_schedule().stages.at(0).nest();
  };
  const std::string window = "I(n,3 * x + i,3 * y + j,c) where x in 0:42, y in 0:10, i in 0:5, j in 0:5";
  const auto nest = pool(window, {{"N", 6}, {"C", 98}, {"X", 128}, {"Y", 32}});
  CHECK(nest.vector_loop() == 3);
  CHECK(nest.tiles == std::vector<std::vector<int64_t>>{{1}, {1}, {1}, {56}});  // of 98, in 12 registers at most
  CHECK(nest.reduction_order == std::vector<int>{0, 1});
  CHECK(pool(window, {{"N", 6}, {"C", 300}, {"X", 128}, {"Y", 32}}).tiles[3] == std::vector<int64_t>{80});
  // Where taps do not slide, a row at a time is added to sums at home.
  const auto sums = bound("def f(float(A,B,C) I) -> (O) { O(a,c) +=! I(a,b,c) }", {{"A", 256}, {"B", 32}, {"C", 512}});
  const auto added = Space(sums, two_threads(32, 16, 256 << 10)).default_schedule().stages.at(0).nest();
  CHECK(added.order.size() == 2);
}

TEST_CASE("groups whose channels share lines of what comes from memory are taken one after the other", "[unit]") {
  const auto first = [](int64_t l3_bytes) {
    const auto program = bound(
        "def f(float(N,X,Y,G,C) I, float(G,F,C,3,3) K) -> (O) { O(n,x,y,g,k) +=! I(n,3 * x + i,3 * y + j,g,c) * "
        "K(g,k,c,i,j) where x in 0:42, y in 0:42, i in 0:3, j in 0:3 }",
        {{"N", 8}, {"X", 128}, {"Y", 128}, {"G", 18}, {"C", 6}, {"F", 2}});
    auto target = two_threads(32, 16, 256 << 10);
    target.l3_bytes = l3_bytes;
    return Space(program, target).default_schedule().stages.at(0).nest().order.at(0).front();
  };
  CHECK(first(32 << 20) != 3);
  CHECK(first(64 << 20) == 3);
}

TEST_CASE("what is copied for vectors along an innermost batch is copied by the threads that use it", "[unit]") {
  const auto nest = nest_of(kBatchInnermost, {{"B", 125}, {"K", 19}, {"M", 18}, {"N", 8}});
  CHECK(nest.cpu().vector_loop == 2);
  CHECK(nest.order[0].front() == 2);
  CHECK(nest.cpu().parallel == 1);
  REQUIRE(nest.packings.size() == 1);
  CHECK(nest.packings[0].depth == 1);
  // Two threads would store to the same lines all the time.
  CHECK(nest_of(kBatchInnermost, {{"B", 13}, {"K", 2}, {"M", 312}, {"N", 32}}).order[0].front() != 2);
}

TEST_CASE("a home of windows takes parts of its sums whose terms the first cache holds", "[unit]") {
  const auto nest = [](const std::string& factor, int64_t channels) {
    const auto program = bound(
        "def f(float(N,C,X,Y,Z) I, float(F,C,3,3,3) W, float a) -> (O) { O(n,f,x,y,z) +=! I(n,c,x "
        "+ i,y + j,z + k) * W(f,c,i,j,k)" +
            factor + " where x in 0:30, y in 0:30, z in 0:29 }",
        {{"N", 2}, {"C", channels}, {"F", 67}, {"X", 32}, {"Y", 32}, {"Z", 31}});
    const auto schedule = Space(program, two_threads(32, 16, 512 << 10)).default_schedule();
    REQUIRE(codegen::check(program, schedule).has_value());
    return schedule.stages.at(0).nest();
  };
  const auto many = nest("", 61);
  REQUIRE(many.order.size() == 2);
  const int64_t block = many.reduction_block[0], filters = many.tiles[1].back();
  CHECK(block < 61);
  CHECK(many.reduction_order[0] == 0);
  CHECK(many.reduction_block == std::vector<int64_t>{block, 3, 3, 3});
  CHECK(27 * block >= 24);
  CHECK(27 * block * filters * 4 <= (32 << 10) / 2);
  CHECK(27 * (block + 4) * filters * 4 > (32 << 10) / 2);                  // beside it lie the lines of the input
  CHECK(nest("", 2).reduction_block == std::vector<int64_t>{2, 3, 3, 3});  // fits as it is
  CHECK(nest(" * a", 61).reduction_block[0] == block);                     // a number has no neighbours in memory
}

TEST_CASE("rows overlap where a tap and an output move along the same dimensions alike", "[unit]") {
  const auto share = [](const char* text, int64_t taps) {
    const auto program = bound(text, {{"P", 64}, {"Q", 64}, {"R", taps}});
    const auto target = two_threads(64, 32, 1 << 20);
    const StageContext context{&program, &target, 0, codegen::loops_of(program, program.statements[0])};
    return share_of_overlap(context, context.loops.operands[0], 0, 1, 4);
  };
  const auto of = [](const char* read) {
    return std::string("def f(float(P,Q) I, float(R) W) -> (O) { O(n,x) +=! I(") + read +
           ") * W(r) where n in 0:3, x in 0:8 }";
  };
  CHECK(share(of("n,x + r").c_str(), 3) == 6.0 / 12);
  CHECK(share(of("n,2 * x + r").c_str(), 3) == 9.0 / 12);
  CHECK(share(of("n,4 * x + r").c_str(), 3) == 1);
  CHECK(share(of("n,3 * x + 2 * r").c_str(), 3) == 1);
  CHECK(share(of("x + r,x + r").c_str(), 3) == 6.0 / 12);
  CHECK(share(of("x + r,r").c_str(), 3) == 1);
  CHECK(share(of("x,x + r").c_str(), 3) == 1);
  CHECK(share(of("n,x + r").c_str(), 0) == 1);
}

}  // namespace tile_tune::search
