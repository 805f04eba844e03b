// Long sums into few outputs: where these wait in the first cache while the operands pass by.
#include <catch2/catch.hpp>

#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

constexpr const char* kColumns = "def f(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";
constexpr const char* kRows = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

codegen::NestSchedule default_nest(const std::string& text, const ir::Sizes& sizes, bool deterministic = false) {
  codegen::Target target = two_threads(32, 16, 512 << 10);
  target.l3_bytes = 16 << 20;
  target.deterministic = deterministic;
  const Space space(bound(text, sizes), target);
  return space.default_schedule().stages[0].nest();
}

bool waits_in_cache(const codegen::NestSchedule& nest, int64_t sum) {
  return nest.parallel_reduction && nest.reduction_block[0] <= 64 && nest.reduction_block[0] < sum &&
         nest.packings.empty();
}

}  // namespace

TEST_CASE("few outputs wait in the first cache while a long sum passes by in pieces", "[unit]") {
  const auto nest = default_nest(kColumns, {{"K", 8192}, {"M", 256}, {"N", 7}});
  CHECK(waits_in_cache(nest, 8192));
  CHECK(nest.parallel_reduction->pieces == 8);
  CHECK(nest.reduction_block == std::vector<int64_t>{64});
  // All seven rows in registers, one vector each: two would leave none of 16 to a broadcast.
  CHECK(nest.tiles == std::vector<std::vector<int64_t>>{{256, 8}, {7, 7}});
  CHECK(nest.cpu().vector_loop == 0);
  // Rows pages apart fall into the same sets of the cache.
  CHECK(default_nest(kColumns, {{"K", 4096}, {"M", 1024}, {"N", 3}}).reduction_block == std::vector<int64_t>{16});
}

TEST_CASE("other products keep their register tiles", "[unit]") {
  // More outputs than half the first cache holds; operands that the second holds; rows along the sum; sums that
  // registers hold; a sum whose order counts.
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 8192}, {"M", 256}, {"N", 64}}), 8192));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 256}, {"M", 256}, {"N", 7}}), 256));
  CHECK_FALSE(waits_in_cache(default_nest(kRows, {{"K", 4096}, {"M", 104}, {"N", 16}}), 4096));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 65536}, {"M", 8}, {"N", 7}}), 65536));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 8192}, {"M", 256}, {"N", 7}}, true), 8192));
}

TEST_CASE("a sum of a prime number of terms is cut as well", "[unit]") {
  const auto nest = default_nest(kColumns, {{"K", 8191}, {"M", 256}, {"N", 7}});
  CHECK(waits_in_cache(nest, 8191));
  CHECK(nest.parallel_reduction->pieces == 8);
  CHECK(nest.reduction_block == std::vector<int64_t>{33});                                      // of 1023
  CHECK(default_nest(kColumns, {{"K", 8253}, {"M", 256}, {"N", 7}}).reduction_block[0] == 64);  // of 7 * 131
  CHECK(default_nest("def f(float(K) A, float(K) B) -> (C) { C() +=! A(k) * B(k) }", {{"K", 1000003}})
            .parallel_reduction->pieces == 8);
}

TEST_CASE("blocks of a long sum stay in the first cache for all tiles of a home", "[unit]") {
  for (const int64_t terms : {3000, 3001}) {
    INFO(terms);
    const auto nest = default_nest(kColumns, {{"K", terms}, {"M", 61}, {"N", 53}});
    REQUIRE(nest.tiles[0].size() == 2);
    CHECK_FALSE(nest.parallel_reduction);
    CHECK(nest.cpu().parallel == 2);
    CHECK(nest.reduction_block[0] >= 24);
    const int64_t m = nest.tiles[0].front(), n = nest.tiles[1].front();
    CHECK(m * n * 4 <= 8 << 10);
    CHECK(nest.reduction_block[0] * (m + n) * 4 <= 16 << 10);
    CHECK(m * n > nest.tiles[0].back() * nest.tiles[1].back());
    CHECK(((61 + m - 1) / m) * ((53 + n - 1) / n) >= 2);
  }
  // Rows along the sum, what the second cache holds, outputs that the first does not, and an order that counts.
  CHECK(default_nest(kRows, {{"K", 3000}, {"M", 61}, {"N", 53}}).reduction_block[0] == 3000);
  CHECK(default_nest(kColumns, {{"K", 500}, {"M", 61}, {"N", 53}}).reduction_block[0] == 500);
  CHECK(default_nest(kColumns, {{"K", 3000}, {"M", 610}, {"N", 53}}).reduction_block[0] == 3000);
  CHECK(default_nest(kColumns, {{"K", 3000}, {"M", 61}, {"N", 53}}, true).reduction_block[0] == 3000);
}

}  // namespace tile_tune::search
