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
  // More outputs than half the first cache holds; operands that the second holds; rows along the sum; a sum that cannot
  // be cut; one whose order counts.
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 8192}, {"M", 256}, {"N", 64}}), 8192));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 256}, {"M", 256}, {"N", 7}}), 256));
  CHECK_FALSE(waits_in_cache(default_nest(kRows, {{"K", 4096}, {"M", 104}, {"N", 16}}), 4096));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 8191}, {"M", 256}, {"N", 7}}), 8191));
  CHECK_FALSE(waits_in_cache(default_nest(kColumns, {{"K", 8192}, {"M", 256}, {"N", 7}}, true), 8192));
}

}  // namespace tile_tune::search
