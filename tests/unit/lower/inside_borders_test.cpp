#include "codegen/lower/inside_borders.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace tile_tune::codegen;
using namespace Halide::Internal;
using Halide::Expr;
using Halide::Float;
using Halide::Int;

namespace {

constexpr int kSumLanes = 8, kRowEnd = 100;
const Expr place = Variable::make(Int(32), "x");

Expr spread(const Expr& value) { return Broadcast::make(value, kSumLanes); }
Expr along(const Expr& base, int stride = 1) { return Ramp::make(base, stride, kSumLanes); }
Expr row_at(const Expr& index) {
  return Load::make(Float(32, kSumLanes), "row", index, {}, {}, const_true(kSumLanes), {});
}
const Expr acc = Load::make(Float(32, kSumLanes), "acc", along(0), {}, {}, const_true(kSumLanes), {});

Stmt serial(const std::string& name, int from, int count, const Stmt& body) {
  return For::make(name, from, count, ForType::Serial, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
}

/// Three times acc = value, in registers.
Stmt summed(const Expr& value, Halide::MemoryType memory = Halide::MemoryType::Register) {
  const Stmt store = Store::make("acc", value, along(0), {}, const_true(kSumLanes), {});
  return Allocate::make("acc", Float(32), memory, {kSumLanes}, const_true(),
                        ProducerConsumer::make("acc", true, serial("r", 0, 3, store)));
}

/// Element stride * place + tap of a row, added where it lies inside.
Expr term(int stride, int tap) {
  const Expr position = along(place * stride + tap, stride);
  return Halide::select(position < spread(kRowEnd) && spread(0) <= position,
                        row_at(Max::make(Min::make(position, spread(kRowEnd - 1)), spread(0))) + acc, acc);
}

const IfThenElse* branch_of(const Stmt& stmt) {
  struct Branches : IRVisitor {
    using IRVisitor::visit;
    void visit(const IfThenElse* op) override { found.push_back(op); }
    std::vector<const IfThenElse*> found;
  } branches;
  stmt.accept(&branches);
  return branches.found.size() == 1 ? branches.found.front() : nullptr;
}

Expr stored(const Stmt& stmt) {
  struct Stored : IRVisitor {
    using IRVisitor::visit;
    void visit(const Store* op) override { value = op->value; }
    Expr value;
  } store;
  stmt.accept(&store);
  return store.value;
}

/// Elements of the row, relative to place * stride, that the lanes of loads and a shuffle of loads hold.
std::vector<int64_t> row_elements(const Expr& vector, int stride) {
  std::vector<int64_t> result;
  if (const auto* load = vector.as<Load>()) {
    CHECK(is_const_one(load->predicate));
    const auto* index = load->index.as<Ramp>();
    REQUIRE(index);
    for (int lane = 0; lane < index->lanes; ++lane)
      result.push_back(*as_const_int(simplify(index->base + lane * index->stride - place * stride)));
    return result;
  }
  const auto* shuffle = vector.as<Shuffle>();
  REQUIRE(shuffle);
  std::vector<int64_t> loaded;
  for (const auto& piece : shuffle->vectors)
    for (const int64_t element : row_elements(piece, stride)) loaded.push_back(element);
  for (const int index : shuffle->indices) result.push_back(loaded.at(index));
  return result;
}

}  // namespace

TEST_CASE("sums in registers have a second form where all lanes lie inside") {
  const int stride = GENERATE(1, 2, 3, 4), tap = GENERATE(-3, 0, 2);
  const Stmt before = summed(term(stride, tap));
  const Stmt after = InsideBorders().mutate(before);
  CAPTURE(stride, tap, after);
  const auto* branch = branch_of(after);
  REQUIRE(branch);
  for (int at = -5; at < kRowEnd + 5; ++at) {
    const bool inside = stride * at + tap >= 0 && stride * (at + kSumLanes - 1) + tap < kRowEnd;
    CHECK(is_const_one(simplify(substitute("x", at, branch->condition))) == inside);
  }
  CHECK(equal(stored(branch->else_case), term(stride, tap)));
  const auto* sum = stored(branch->then_case).as<Add>();
  REQUIRE(sum);
  CHECK(equal(sum->b, acc));
  const auto found = row_elements(sum->a, stride);
  REQUIRE(found.size() == kSumLanes);
  for (int lane = 0; lane < kSumLanes; ++lane) CHECK(found[lane] == stride * lane + tap);
}

TEST_CASE("the branch is around the outermost loop of which the lanes know nothing") {
  const auto around = [](const char* name) { return InsideBorders().mutate(serial(name, 0, 9, summed(term(1, -1)))); };
  CHECK(around("f").as<IfThenElse>());
  const Stmt by_x = around("x");
  CHECK(by_x.as<For>());
  CHECK(branch_of(by_x));
  // Of all its iterations, where the loop lies inside the vectors.
  const Expr along_r = substitute("x", place + Variable::make(Int(32), "r"), term(1, -1));
  const Stmt by_tap = InsideBorders().mutate(summed(along_r));
  const auto* branch = branch_of(by_tap);
  REQUIRE(branch);
  CHECK(is_const_one(simplify(substitute("x", 1, branch->condition))));
  CHECK(is_const_one(simplify(substitute("x", kRowEnd - 1 - 2 - kSumLanes + 2, branch->condition))));
  CHECK(is_const_zero(simplify(substitute("x", 0, branch->condition))));
  CHECK(is_const_zero(simplify(substitute("x", kRowEnd - 2 - kSumLanes + 2, branch->condition))));
}

TEST_CASE("what names say is known, and a name's other value is not taken for it") {
  const Expr p = Variable::make(Int(32), "p"), clamped = row_at(Max::make(along(p), spread(0)));
  const auto sums = [&](const Expr& value) {
    return LetStmt::make("p", value,
                         Stmt(serial("f", 0, 2, summed(Halide::select(spread(0) <= along(p), clamped + acc, acc)))));
  };
  const Stmt one = InsideBorders().mutate(serial("g", 0, 2, sums(place - 5)));
  const auto* near = branch_of(one);
  REQUIRE(near);
  CHECK(is_const_one(simplify(substitute("x", 5, near->condition))));
  CHECK(is_const_zero(simplify(substitute("x", 4, near->condition))));
  const Stmt two = InsideBorders().mutate(serial("g", 0, 2, Block::make(sums(place), sums(place - 5))));
  const auto* both = two.as<IfThenElse>();
  REQUIRE(both);
  CHECK(is_const_zero(simplify(substitute("x", 4, both->condition))));
}

TEST_CASE("what is no border of a vector stays as it is") {
  const auto same = [](const Stmt& before) {
    const Stmt after = InsideBorders().mutate(before);
    CAPTURE(before, after);
    CHECK(equal(before, after));
  };
  // Not in registers; one condition for all lanes; a program's own clamp; a buffer from outside ends inside; always
  // across the border.
  same(summed(term(1, -1), Halide::MemoryType::Stack));
  const Expr clamped = row_at(Max::make(along(place), spread(1)));
  same(summed(Halide::select(spread(1) <= spread(place), row_at(along(place)) + acc, acc)));
  same(summed(clamped + acc));
  same(summed(Halide::select(along(place) < spread(1), clamped + acc, acc)));
  const Stmt ends =
      Block::make(Free::make("before"), Store::make("acc", term(1, -1), along(0), {}, const_true(kSumLanes), {}));
  same(Allocate::make("acc", Float(32), Halide::MemoryType::Register, {kSumLanes}, const_true(),
                      ProducerConsumer::make("acc", true, ends)));
  const Expr r = Variable::make(Int(32), "r");
  same(summed(Halide::select(spread(0) <= along(r - 1), row_at(Max::make(along(r - 1), spread(0))) + acc, acc)));
}
