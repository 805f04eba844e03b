#include "codegen/lower/partial_stores.h"

#include <catch2/catch.hpp>
#include <map>

using namespace tile_tune::codegen;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::Float;
using Halide::Int;

namespace {

const Target kOfHalves = *parse_target("x86-64-linux-avx-avx2-f16c-fma-sse41");

Stmt stored(int lanes, const Expr& predicate, int stride = 1) {
  const Expr index = Ramp::make(Variable::make(Int(32), "x") * 7, stride, lanes);
  return Store::make("f", Variable::make(Float(32, lanes), "sums"), index, {}, predicate, {});
}
Expr first(int lanes, int count) { return Ramp::make(0, 1, lanes) < Broadcast::make(count, lanes); }

/// Lane of the value that each element gets, of those behind the first where x is 0.
struct Stored : IRVisitor {
  std::map<int64_t, int> lanes;
  using IRVisitor::visit;
  void visit(const Store* op) override {
    REQUIRE(is_const_one(op->predicate));
    const auto base = as_const_int(simplify(substitute("x", 0, op->index.as<Ramp>()->base)));
    REQUIRE(base);
    const auto* slice = op->value.as<Shuffle>();
    REQUIRE(slice);
    for (size_t i = 0; i < slice->indices.size(); ++i) lanes[*base + static_cast<int64_t>(i)] = slice->indices[i];
  }
};

}  // namespace

TEST_CASE("the first lanes of a vector are stored as halves, and no others") {
  const auto [lanes, count] = GENERATE(std::pair{4, 3}, std::pair{8, 5}, std::pair{8, 7}, std::pair{16, 9});
  const Expr predicate =
      GENERATE_COPY(first(lanes, count), Ramp::make(0, 1, lanes) <= Broadcast::make(count - 1, lanes));
  CAPTURE(predicate);
  Stored stores;
  PartialStores(kOfHalves).mutate(stored(lanes, predicate)).accept(&stores);
  const Target masks = *parse_target("x86-64-linux-avx512");
  CHECK(equal(PartialStores(masks).mutate(stored(lanes, predicate)), stored(lanes, predicate)));
  REQUIRE(stores.lanes.size() == static_cast<size_t>(count));
  for (int lane = 0; lane < count; ++lane) CHECK(stores.lanes.at(lane) == lane);
}

TEST_CASE("stores of no first lanes, of less than half and across memory stay as they are") {
  const Expr from_second = Ramp::make(1, 1, 8) < Broadcast::make(7, 8), of_call = Variable::make(Halide::Bool(8), "p");
  for (const Stmt& same : {stored(8, const_true(8)), stored(8, first(8, 4)), stored(8, first(8, 8)),
                           stored(8, first(8, 7), 2), stored(8, from_second), stored(8, of_call)})
    CHECK(equal(PartialStores(kOfHalves).mutate(same), same));
}
