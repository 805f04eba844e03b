#include "codegen/lower/transposes.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

using namespace tile_tune::codegen;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::Int;

namespace {

constexpr int kStride = 100;
const Expr start = Variable::make(Int(32), "start");

/// Lanes of a constant expression.
std::vector<int64_t> lanes_of(const Expr& expr, const std::map<std::string, Expr>& names) {
  if (const auto value = as_const_int(expr)) return {*value};
  if (const auto* variable = expr.as<Variable>()) return lanes_of(names.at(variable->name), names);
  if (const auto* ramp = expr.as<Ramp>()) {
    std::vector<int64_t> result;
    for (int lane = 0; lane < ramp->lanes; ++lane)
      result.push_back(lanes_of(ramp->base, names)[0] + lane * lanes_of(ramp->stride, names)[0]);
    return result;
  }
  const auto* shuffle = expr.as<Shuffle>();
  REQUIRE(shuffle);
  std::vector<int64_t> all, result;
  for (const auto& vector : shuffle->vectors)
    for (const int64_t value : lanes_of(vector, names)) all.push_back(value);
  for (const int index : shuffle->indices) result.push_back(all.at(index));
  return result;
}

/// What statements leave in memory where `start` is 0, and how they store it.
struct Memory : public IRVisitor {
  std::map<int64_t, int64_t> elements;
  std::map<std::string, Expr> names{{"start", Expr(0)}};
  int rows = 0, scattered = 0;

 private:
  using IRVisitor::visit;
  void visit(const LetStmt* op) override {
    names[op->name] = substitute(names, op->value);
    op->body.accept(this);
  }
  void visit(const Store* op) override {
    const auto* ramp = op->index.as<Ramp>();
    REQUIRE(ramp);
    ++(is_const_one(ramp->stride) ? rows : scattered);
    const auto base = as_const_int(simplify(substitute(names, ramp->base)));
    REQUIRE(base);
    const auto values = lanes_of(op->value, names);
    for (size_t lane = 0; lane < values.size(); ++lane)
      elements[*base + static_cast<int64_t>(lane) * *as_const_int(ramp->stride)] = values[lane];
  }
};

Memory after(const Stmt& stmt) {
  INFO((std::ostringstream() << stmt).str());
  Memory memory;
  stmt.accept(&memory);
  return memory;
}

/// Lanes of 1000 * number and following, at the element behind a row's start.
Stmt vector(int number, int lanes, const Expr& base) {
  return Store::make("f", Ramp::make(1000 * number, 1, lanes), Ramp::make(base + number, kStride, lanes), {},
                     const_true(lanes), {});
}

Stmt transposed(const Stmt& stmt, int vector_bytes = 64) { return Transposes(vector_bytes).mutate(stmt); }

}  // namespace

TEST_CASE("vectors across memory are stored as vectors along it", "[unit]") {
  // Squares; vectors longer and shorter than there are; what is left over; narrow targets.
  for (const auto& [count, lanes, bytes, rows, scattered] : {std::array{16, 16, 64, 16, 0},
                                                             {8, 8, 64, 8, 0},
                                                             {4, 4, 16, 4, 0},
                                                             {8, 16, 64, 16, 0},
                                                             {4, 16, 64, 16, 0},
                                                             {13, 16, 64, 32, 1},
                                                             {24, 8, 64, 24, 0},
                                                             {24, 16, 64, 32, 0},
                                                             {16, 16, 32, 32, 0},
                                                             {6, 4, 16, 4, 2},
                                                             {3, 16, 64, 0, 3}}) {
    CAPTURE(count, lanes, bytes);
    std::vector<Stmt> stores;
    for (int number = 0; number < count; ++number) stores.push_back(vector((number * 7) % count, lanes, start * 8));
    const Stmt all = Block::make(stores);
    const Memory before = after(all), now = after(transposed(all, bytes));
    CHECK(before.elements.size() == static_cast<size_t>(count * lanes));
    CHECK(now.elements == before.elements);
    CHECK(now.rows == rows);
    CHECK(now.scattered == scattered);
  }
}

TEST_CASE("a row of several vectors is transposed as well, as their lanes do not meet", "[unit]") {
  constexpr int kLanes = 4, kVectors = 3, kRows = 8;
  const auto stored = [&](int apart) {
    std::vector<Stmt> stores;
    for (int number = 0; number < kRows; ++number)
      for (int v = 0; v < kVectors; ++v) stores.push_back(vector(number, kLanes, start + v * apart));
    return Block::make(stores);
  };
  const Stmt beside = stored(kLanes * kStride);
  const Memory before = after(beside), now = after(transposed(beside, 16));
  CHECK(before.elements.size() == kRows * kLanes * kVectors);
  CHECK(now.elements == before.elements);
  CHECK(now.rows == kRows * kVectors);
  CHECK(now.scattered == 0);
  const Stmt meeting = stored((kLanes - 1) * kStride);
  CHECK(equal(transposed(meeting, 16), meeting));
}

TEST_CASE("vectors that were interleaved into one are transposed as well", "[unit]") {
  for (const auto& [count, lanes, bytes, rows] :
       {std::array{16, 16, 64, 16}, {8, 16, 64, 16}, {12, 8, 64, 16}, {16, 8, 32, 16}, {4, 4, 16, 4}}) {
    CAPTURE(count, lanes, bytes);
    std::vector<Expr> vectors;
    for (int number = 0; number < count; ++number) vectors.push_back(Ramp::make(1000 * number, 1, lanes));
    const int all = count * lanes;
    const Stmt interleaved =
        Store::make("f", Shuffle::make_interleave(vectors), Ramp::make(start, 1, all), {}, const_true(all), {});
    const Memory before = after(interleaved), now = after(transposed(interleaved, bytes));
    CHECK(before.elements.size() == static_cast<size_t>(all));
    CHECK(now.elements == before.elements);
    CHECK(now.rows == rows);
    CHECK(now.scattered == 0);
  }
  // Two of six would be left over, pairs of f64 stored apart, and single bytes.
  const auto same = [](const Expr& value, int count, int vector_bytes) {
    const int all = count * value.type().lanes();
    const Stmt stmt = Store::make("f", Shuffle::make_interleave(std::vector<Expr>(count, value)),
                                  Ramp::make(start, 1, all), {}, const_true(all), {});
    return equal(transposed(stmt, vector_bytes), stmt);
  };
  CHECK(same(Ramp::make(0, 1, 8), 6, 64));
  CHECK(same(Broadcast::make(make_one(Halide::Float(64)), 4), 4, 16));
  CHECK(same(Broadcast::make(make_one(Halide::UInt(8)), 64), 4, 64));
  CHECK(same(Broadcast::make(make_one(Halide::UInt(8)), 16), 16, 64));
  CHECK(!same(Broadcast::make(make_one(Halide::UInt(8)), 16), 16, 32));
}

TEST_CASE("names between the stores stay before what uses them", "[unit]") {
  Stmt all = vector(3, 4, Variable::make(Int(32), "t3"));
  for (int number = 3; number-- > 0;)
    all = Block::make(vector(number, 4, Variable::make(Int(32), "t" + std::to_string(number))),
                      LetStmt::make("t" + std::to_string(number + 1), start * 8, all));
  all = LetStmt::make("t0", start * 8, all);
  const Memory before = after(all), now = after(transposed(all));
  CHECK(now.elements == before.elements);
  CHECK(now.rows == 4);
  CHECK(now.scattered == 0);
}

TEST_CASE("addresses may have 64 bits", "[unit]") {
  const Expr far = Variable::make(Int(64), "far");
  std::vector<Stmt> stores;
  for (int number = 0; number < 4; ++number)
    stores.push_back(Store::make("f", Ramp::make(1000 * number, 1, 4),
                                 Ramp::make(far + make_const(Int(64), number), make_const(Int(64), kStride), 4), {},
                                 const_true(4), {}));
  const Stmt all = Block::make(stores);
  Memory before, now;
  before.names["far"] = now.names["far"] = make_const(Int(64), 0);
  all.accept(&before);
  transposed(all).accept(&now);
  CHECK(now.elements == before.elements);
  CHECK(now.rows == 4);
}

TEST_CASE("stores that depend on each other stay as they are", "[unit]") {
  std::vector<Stmt> sums;
  for (int number = 0; number < 4; ++number) {
    const Expr index = Ramp::make(start + number, kStride, 4);
    sums.push_back(Store::make("f", Load::make(Int(32, 4), "f", index, {}, {}, const_true(4), {}) + 1, index, {},
                               const_true(4), {}));
  }
  const Stmt all = Block::make(sums);
  CHECK(equal(transposed(all), all));
  // Lanes that meet: the last store of an element counts.
  std::vector<Stmt> meeting;
  for (int number = 0; number < 8; ++number)
    meeting.push_back(
        Store::make("f", Ramp::make(1000 * number, 1, 4), Ramp::make(start + number, 3, 4), {}, const_true(4), {}));
  CHECK(after(transposed(Block::make(meeting))).elements == after(Block::make(meeting)).elements);
  // Of other strides, and of places that nobody knows the distance of.
  const Stmt others =
      Block::make({vector(0, 4, start), vector(1, 4, start * 2), vector(2, 4, start * 3), vector(3, 4, start * 4)});
  CHECK(equal(transposed(others), others));
}
