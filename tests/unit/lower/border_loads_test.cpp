#include "codegen/lower/border_loads.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "codegen/target/target.h"

using namespace tile_tune::codegen;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::Float;
using Halide::Int;

namespace {

constexpr int kLanes = 8, kRow = 21;
const Expr x = Variable::make(Int(32), "x");

Target with(std::string_view text) { return *parse_target(text); }
const Target kAvx2 = with("x86-64-linux-avx-avx2-f16c-fma-sse41"), kSse = with("x86-64-linux-sse41");

Expr all(const Expr& value, int lanes = kLanes) { return Broadcast::make(value, lanes); }
Expr ramp(const Expr& base, int stride = 1) { return Ramp::make(base, stride, kLanes); }
Expr loaded(const Expr& index, Halide::Type type = Float(32, kLanes)) {
  return Load::make(type, "row", index, {}, {}, const_true(kLanes), {});
}
const Expr kept = Variable::make(Float(32, kLanes), "kept");

/// Lanes of a vector of integers or truths, at x.
std::vector<int64_t> lanes_of(const Expr& expr, int at) {
  const auto both = [&](const auto* op, auto combined) {
    auto a = lanes_of(op->a, at);
    const auto b = lanes_of(op->b, at);
    for (size_t i = 0; i < a.size(); ++i) a[i] = combined(a[i], b[i]);
    return a;
  };
  if (const auto value = as_const_int(expr)) return std::vector<int64_t>(expr.type().lanes(), *value);
  if (expr.type().is_scalar()) return {*as_const_int(simplify(substitute("x", at, expr)))};
  if (const auto* op = expr.as<Broadcast>()) return std::vector<int64_t>(op->lanes, lanes_of(op->value, at)[0]);
  if (const auto* op = expr.as<Ramp>()) {
    std::vector<int64_t> result;
    for (int lane = 0; lane < op->lanes; ++lane)
      result.push_back(lanes_of(op->base, at)[0] + lane * lanes_of(op->stride, at)[0]);
    return result;
  }
  if (const auto* op = expr.as<Add>()) return both(op, [](int64_t a, int64_t b) { return a + b; });
  if (const auto* op = expr.as<Min>()) return both(op, [](int64_t a, int64_t b) { return std::min(a, b); });
  if (const auto* op = expr.as<Max>()) return both(op, [](int64_t a, int64_t b) { return std::max(a, b); });
  if (const auto* op = expr.as<LT>()) return both(op, [](int64_t a, int64_t b) { return int64_t{a < b}; });
  if (const auto* op = expr.as<LE>()) return both(op, [](int64_t a, int64_t b) { return int64_t{a <= b}; });
  if (const auto* op = expr.as<And>()) return both(op, [](int64_t a, int64_t b) { return int64_t{a && b}; });
  if (const auto* op = expr.as<Not>()) {
    auto result = lanes_of(op->a, at);
    for (auto& lane : result) lane = 1 - lane;
    return result;
  }
  const auto* shuffle = expr.as<Shuffle>();
  INFO(expr);
  REQUIRE(shuffle);
  std::vector<int64_t> lanes, result;
  for (const auto& vector : shuffle->vectors)
    for (const int64_t lane : lanes_of(vector, at)) lanes.push_back(lane);
  for (const int index : shuffle->indices) result.push_back(lanes.at(index));
  return result;
}

/// Elements of the row that the vector's lanes hold at x; none where no memory was touched. Every element that is
/// touched is checked to lie in the row, which ends with the last one.
std::vector<std::optional<int64_t>> elements(const Expr& vector, int at, int64_t last) {
  std::vector<std::optional<int64_t>> lanes;
  if (const auto* select = vector.as<Select>()) {
    REQUIRE(equal(select->condition, select->true_value.as<Load>()->predicate));
    return elements(select->true_value, at, last);
  }
  if (const auto* load = vector.as<Load>()) {
    const auto index = lanes_of(load->index, at), inside = lanes_of(load->predicate, at);
    for (size_t lane = 0; lane < index.size(); ++lane) {
      lanes.push_back(inside[lane] ? std::optional(index[lane]) : std::nullopt);
      CHECK((!inside[lane] || (index[lane] >= 0 && index[lane] <= last)));
    }
    return lanes;
  }
  const auto* shuffle = vector.as<Shuffle>();
  REQUIRE(shuffle);
  std::vector<std::optional<int64_t>> all_lanes;
  for (const auto& piece : shuffle->vectors)
    for (const auto& lane : elements(piece, at, last)) all_lanes.push_back(lane);
  for (const int lane : shuffle->indices) lanes.push_back(all_lanes.at(lane));
  return lanes;
}

int loads_of(const Expr& expr, bool masked) {
  struct Loads : IRVisitor {
    using IRVisitor::visit;
    void visit(const Load* op) override {
      ++count[!is_const_one(op->predicate)];
      IRVisitor::visit(op);
    }
    std::map<bool, int> count;
  } loads;
  expr.accept(&loads);
  return loads.count[masked];
}

}  // namespace

TEST_CASE("a vector that hangs over a border is loaded under a mask that lets no lane leave the row") {
  const int stride = GENERATE(1, 2, 3, 4), tap = GENERATE(-3, -1, 0, 2);
  // Row element stride * p + tap of result p, which counts inside the row.
  const Expr position = ramp(x * stride + tap, stride);
  const bool both_sides = GENERATE(true, false);
  const Expr clamped = Max::make(both_sides ? Min::make(position, all(kRow - 1)) : position, all(0));
  const Expr inside = both_sides ? position < all(kRow) && all(0) <= position : all(0) <= position;
  const Expr before = Halide::select(inside, loaded(clamped) + kept, kept);
  const Expr after = BorderLoads(kAvx2).mutate(before);
  CAPTURE(stride, tap, after);
  REQUIRE(loads_of(after, false) == 0);
  REQUIRE(loads_of(after, true) == stride);
  const auto* select = after.as<Select>();
  REQUIRE(select);
  const auto* sum = select->true_value.as<Add>();
  REQUIRE(sum);
  for (int at = -4; at < kRow + 4; ++at) {
    const int64_t last = both_sides ? kRow - 1 : stride * (at + kLanes - 1) + tap;
    const auto found = elements(sum->a, at, last);
    REQUIRE(found.size() == kLanes);
    for (int lane = 0; lane < kLanes; ++lane)
      if (const int64_t element = stride * (at + lane) + tap; element >= 0 && element <= last)
        CHECK(found[lane] == element);
  }
}

TEST_CASE("a clamp that is multiplied, or of a multiple of what the select compares, is loaded under a mask, too") {
  // Element 2 p - 2 and 2 p - 3 of a row, of result p, as Halide writes them.
  const Expr result = ramp(x), two = all(2);
  const auto doubled = [](const Expr& index) {
    return Call::make(Int(32, kLanes), Call::shift_left,
                      {index, Halide::cast(Halide::UInt(32, kLanes), Broadcast::make(1, kLanes))}, Call::PureIntrinsic);
  };
  const Expr minus_two = Halide::cast(Int(16, kLanes), all(-2));
  const int form = GENERATE(0, 1, 2);
  const Expr clamped = form == 0   ? Max::make(result, all(1)) * two + all(-2)
                       : form == 1 ? Call::make(Int(32, kLanes), Call::widen_right_add,
                                                {doubled(Max::make(result, all(1))), minus_two}, Call::PureIntrinsic)
                                   : Max::make(ramp(x * 2, 2), all(3)) + all(-3);
  const int least = form == 2 ? 2 : 1, tap = form == 2 ? -3 : -2;
  const Expr after = BorderLoads(kAvx2).mutate(Halide::select(result < all(least), kept, loaded(clamped) + kept));
  CAPTURE(form, after);
  REQUIRE(loads_of(after, false) == 0);
  const auto* select = after.as<Select>();
  REQUIRE(select);
  const auto* sum = select->false_value.as<Add>();
  REQUIRE(sum);
  for (int at = -9; at < 4; ++at) {
    const auto found = elements(sum->a, at, 2 * (at + kLanes - 1) + tap);
    REQUIRE(found.size() == kLanes);
    for (int lane = 0; lane < kLanes; ++lane)
      if (at + lane >= least) CHECK(found[lane] == 2 * (at + lane) + tap);
  }
}

TEST_CASE("a clamp is left alone that the select around it does not stand for") {
  const Expr clamped = Max::make(ramp(x), all(1));
  const auto same = [](const Expr& before, const Target& target = kAvx2) {
    const Expr after = BorderLoads(target).mutate(before);
    CAPTURE(before, after);
    CHECK(equal(before, after));
  };
  const Expr counts = Halide::select(ramp(x) < all(1), kept, loaded(clamped));
  CHECK(loads_of(BorderLoads(kAvx2).mutate(counts), true) == 1);
  // A program's own: the element at the border is meant.
  same(loaded(clamped));
  // One lane more than the clamp leaves alone, another branch, another vector.
  same(Halide::select(ramp(x) < all(0), kept, loaded(clamped)));
  same(Halide::select(ramp(x) < all(1), loaded(clamped), kept));
  same(Halide::select(ramp(x, 2) < all(1), kept, loaded(clamped)));
  // Neighbours lie too far apart, or there are no masked loads.
  same(Halide::select(ramp(x, 5) < all(1), kept, loaded(Max::make(ramp(x, 5), all(1)))));
  same(counts, kSse);
  // Of a text that does not say what an instruction set implies.
  for (const char* text : {"x86-64-linux-avx2-fma", "x86-64-linux-avx512", "x86-64-linux-avx"}) {
    const Target target = with(text);
    CHECK(loads_of(BorderLoads(target).mutate(counts), true) == 1);
  }
  const Expr bytes = Variable::make(Int(8, kLanes), "bytes");
  same(Halide::select(ramp(x) < all(1), bytes, loaded(clamped, Int(8, kLanes))));
}

TEST_CASE("what a select says of its lanes holds for no other ones") {
  const Expr wide =
      Load::make(Float(32, 2 * kLanes), "row", Max::make(Ramp::make(x, 1, 2 * kLanes), all(1, 2 * kLanes)), {}, {},
                 const_true(2 * kLanes), {});
  const auto masked = [](const Expr& value) {
    return loads_of(BorderLoads(kAvx2).mutate(Halide::select(ramp(x) < all(1), kept, value)), true);
  };
  const Expr clamped = loaded(Max::make(ramp(x), all(1)));
  CHECK(masked(clamped) == 1);
  CHECK(masked(Shuffle::make_slice(wide, 0, 1, kLanes)) == 0);
  CHECK(masked(VectorReduce::make(VectorReduce::Add, wide, kLanes)) == 0);
  CHECK(masked(Shuffle::make_slice(Shuffle::make_concat({clamped, kept}), 1, 1, kLanes)) == 0);
  // An address is computed in all lanes.
  const Expr place = Load::make(Int(32, kLanes), "places", Max::make(ramp(x), all(1)), {}, {}, const_true(kLanes), {});
  CHECK(masked(loaded(place)) == 0);
  // Vectors that begin before the buffer's first element, whatever the mask, Halide does not take.
  const Expr first = Max::make(ramp(-1), all(0));
  CHECK(loads_of(BorderLoads(kAvx2).mutate(Halide::select(ramp(-1) < all(0), kept, loaded(first))), true) == 0);
}

TEST_CASE("what a select decides is known by names, of both its branches and of selects around it") {
  const Expr clamped = Min::make(Max::make(ramp(x), all(1)), all(9));
  const Expr inside = Variable::make(Halide::Bool(kLanes), "inside");
  const Expr inner = Halide::select(inside, loaded(clamped), kept);
  const Expr outer = Halide::select(all(9) < ramp(x), kept, inner);
  const Expr named = Let::make("inside", !(ramp(x) < all(1)), outer);
  CHECK(loads_of(BorderLoads(kAvx2).mutate(named), true) == 1);
  CHECK(loads_of(BorderLoads(kAvx2).mutate(inner), true) == 0);
  CHECK(loads_of(BorderLoads(kAvx2).mutate(outer), true) == 0);
}

TEST_CASE("a shorter vector whose last element is repeated is a clamp, too") {
  const int count = GENERATE(5, 7);
  const Expr shorter =
      Load::make(Float(32, count), "row", Ramp::make(x * count, 1, count), {}, {}, const_true(count), {});
  std::vector<int> lanes(kLanes, count - 1);
  for (int lane = 0; lane < count; ++lane) lanes[lane] = lane;
  const Expr repeated = Shuffle::make({shorter}, lanes), zero = make_zero(Float(32, kLanes));
  const auto masked = [&](int known, const Expr& value, const Target& target = kAvx2) {
    return BorderLoads(target).mutate(Halide::select(ramp(0) < all(known), value, zero));
  };
  const Expr after = masked(count, repeated);
  const auto* select = after.as<Select>();
  REQUIRE(select);
  for (const int at : {0, 3}) {
    const auto found = elements(select->true_value, at, count * (at + 1) - 1);
    for (int lane = 0; lane < kLanes; ++lane)
      CHECK(found[lane] == (lane < count ? std::optional<int64_t>(at * count + lane) : std::nullopt));
  }
  // One more lane counts, an element is another, or nothing loads under a mask.
  std::swap(lanes[0], lanes[1]);
  CHECK(loads_of(masked(count + 1, repeated), true) == 0);
  CHECK(loads_of(masked(count, Shuffle::make({shorter}, lanes)), true) == 0);
  CHECK(loads_of(masked(count, repeated, kSse), true) == 0);
}
