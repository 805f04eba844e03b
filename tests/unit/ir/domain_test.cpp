#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

#include "frontend/ir/domain.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

/// One statement over `extents`-sized indices that reads a vector of `length` at `subscript`, sums into a scalar.
Program reads_vector(std::vector<int64_t> extents, int64_t length, AffineExpr subscript) {
  Program program;
  program.name = "p";
  program.tensors = {{"A", DType::F32, {length}, Role::Input, Storage::row()},
                     {"o", DType::F32, {}, Role::Output, Storage::row()}};
  program.inputs = {0};
  program.outputs = {1};
  Statement statement;
  statement.target = 1;
  for (size_t i = 0; i < extents.size(); ++i)
    statement.indices.push_back({std::string{static_cast<char>('i' + i)}, 0, extents[i], ""});
  statement.op = Aggregation::Sum;
  statement.value = read(0, {std::move(subscript)});
  program.statements = {statement};
  return program;
}

double size_of(const Program& program, size_t statement = 0) {
  return domain_size(program, program.statements[statement]).value();
}

std::string message_of(const Program& program) {
  const auto checked = check_domains(program);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == "out-of-bounds");
  CHECK(checked.error().error_class == ErrorClass::Mismatch);
  return checked.error().message;
}

}  // namespace

TEST_CASE("a box has the product of its extents") {
  CHECK(size_of(ir::bind(matmul(), {{"M", 3}, {"K", 5}, {"N", 7}}).value()) == 105);
  CHECK(size_of(reads_vector({}, 1, affine({}))) == 1);
  CHECK(size_of(reads_vector({4, 0, 3}, 1, affine({}))) == 0);
  auto program = reads_vector({1}, 9, affine({{0, -1}}));
  program.statements[0].indices[0] = {"i", -5, 2, ""};
  CHECK(size_of(program) == 7);
  program.statements[0].indices[0] = {"i", 5, -2, ""};
  CHECK(size_of(program) == 0);
}

TEST_CASE("constraints are counted exactly") {
  CHECK(size_of(running_sum(1)) == 1);
  CHECK(size_of(running_sum(10)) == 55);
  CHECK(size_of(running_sum(10'000)) == 50'005'000);

  auto program = running_sum(10);
  program.statements[0].constraints[0].bound = 3;  // a window of three
  CHECK(size_of(program) == 27);
  program.statements[0].constraints[0].bound = 0;
  CHECK(size_of(program) == 0);
  // Indices of their own multiply; a second triangle is counted apart from the first.
  program = running_sum(10);
  program.statements[0].indices.push_back({"a", 0, 4, ""});
  program.statements[0].indices.push_back({"b", -2, 2, ""});
  program.statements[0].indices.push_back({"c", 0, 1'000'003, ""});
  program.statements[0].constraints.push_back({affine({{2, 1}, {3, 1}}, -1), 2});  // 1 <= a + b < 3
  CHECK(size_of(program) == 55.0 * 7 * 1'000'003);
  // A third constraint that ties both groups together: k + a = 0.
  program.statements[0].constraints.push_back({affine({{1, 1}, {2, 1}}), 1});
  CHECK(size_of(program) == 10.0 * 1 * 1'000'003);
}

TEST_CASE("a constraint without indices holds or does not") {
  auto program = running_sum(4);
  program.statements[0].constraints = {{affine({}, 2), 3}};
  CHECK(size_of(program) == 16);
  program.statements[0].constraints = {{affine({}, 3), 3}};
  CHECK(size_of(program) == 0);
}

TEST_CASE("denominators keep only integer subscripts") {
  // (i - 1)/2 over i in [0, 6): 1, 3, 5.
  const auto program = reads_vector({6}, 3, affine({{0, 1}}, -1, 2));
  CHECK(size_of(program) == 3);
  CHECK(check_domains(program).has_value());
  // (i - j + 1)/2, seed's dilated form: half of the 7 x 5 points, rounded down.
  CHECK(size_of(reads_vector({7, 5}, 9, affine({{0, 1}, {1, -1}}, 1, 2))) == 17);
  // Two congruences at once: i = 0 mod 2 and i = 0 mod 3 leave 0 and 6 of [0, 10).
  auto both = reads_vector({10}, 10, affine({{0, 1}}, 0, 2));
  both.statements[0].value = call(Op::Mul, {both.statements[0].value, read(0, {affine({{0, 1}}, 0, 3)})});
  CHECK(size_of(both) == 2);
  // A constraint's own denominator: 0 <= (i - 3)/4 < 2 holds for 3 and 7.
  auto constrained = reads_vector({20}, 20, at(0));
  constrained.statements[0].constraints = {{affine({{0, 1}}, -3, 4), 2}};
  CHECK(size_of(constrained) == 2);
}

TEST_CASE("a read that leaves its tensor is told with subscript, range and extent") {
  CHECK(check_domains(reads_vector({5, 3}, 11, affine({{0, 2}, {1, 1}}))).has_value());
  CHECK(message_of(reads_vector({5, 3}, 10, affine({{0, 2}, {1, 1}}))) ==
        "subscript 2*i + j of A runs from 0 to 10, but dimension 0 of A has extent 10");
  CHECK(message_of(reads_vector({5}, 5, affine({{0, -1}}, 3))) ==
        "subscript 3 - i of A runs from -1 to 3, but dimension 0 of A has extent 5");
  CHECK(message_of(reads_vector({5}, 5, affine({}, 5))) == "subscript 5 of A is 5, but dimension 0 of A has extent 5");
  const auto checked = check_domains(reads_vector({5, 3}, 10, affine({{0, 2}, {1, 1}})));
  CHECK(checked.error().note == "i in [0, 5), j in [0, 3)");
}

TEST_CASE("the diagnostic is placed at its statement") {
  auto program = ir::bind(matmul(), {{"M", 3}, {"K", 5}, {"N", 7}}).value();
  program.tensors[1].extents[0] = 4;
  const auto checked = check_domains(program);
  REQUIRE_FALSE(checked);
  REQUIRE(checked.error().place);
  CHECK(checked.error().place->line == 3);
  CHECK(checked.error().message == "subscript k of B runs from 0 to 4, but dimension 0 of B has extent 4");
}

TEST_CASE("writes are checked like reads") {
  auto program = running_sum(4);
  program.tensors[1].extents[0] = 3;
  CHECK(message_of(program) == "subscript i of o runs from 0 to 3, but dimension 0 of o has extent 3");
}

TEST_CASE("constraints and divisibility narrow what is read") {
  // i - k lies in [-9, 9] by the ranges, in [0, 9] by the constraint.
  auto program = running_sum(10);
  program.statements[0].value = read(0, {affine({{0, 1}, {1, -1}})});
  CHECK(check_domains(program).has_value());
  program.statements[0].value = read(0, {affine({{0, 1}, {1, -1}}, 1)});
  CHECK(message_of(program) == "subscript i - k + 1 of A runs from 1 to 10, but dimension 0 of A has extent 10");
  // i = 1 mod 2 in [0, 6) is at most 5: i/1 + 1 = 6 would be outside 6 only if i reached 5.
  auto odd = reads_vector({7}, 6, at(0));
  CHECK_FALSE(check_domains(odd));
  odd.statements[0].value = call(Op::Mul, {odd.statements[0].value, read(0, {affine({{0, 1}}, -1, 2)})});
  CHECK(check_domains(odd).has_value());
  // Nothing satisfies the constraint: nothing is read.
  program.statements[0].constraints[0].bound = 0;
  CHECK(check_domains(program).has_value());
}

TEST_CASE("reads inside gathers are checked, gathered values are not") {
  auto program = reads_vector({5}, 5, at(0));
  program.tensors.push_back({"G", DType::I32, {4}, Role::Input, Storage::row()});
  program.inputs.push_back(2);
  program.statements[0].value = read(0, {read(2, {at(0)}, DType::I32)});
  CHECK(message_of(program) == "subscript i of G runs from 0 to 4, but dimension 0 of G has extent 4");
  program.tensors[2].extents[0] = 5;
  CHECK(check_domains(program).has_value());
}

TEST_CASE("subscripts of indices and literals that are not affine are checked point by point") {
  const auto index = [](int i) { return make_expr(DType::I32, IndexValue{i}); };
  const auto literal = [](int64_t value) { return make_expr(DType::I32, Literal{value}); };
  const auto reads = [&](int64_t length, Op op, ExprPtr a, ExprPtr b) {
    auto program = reads_vector({6, 5}, length, at(0));
    program.statements[0].value = read(0, {Subscript(call(op, {std::move(a), std::move(b)}, DType::I32))});
    return program;
  };
  CHECK(check_domains(reads(3, Op::Mod, index(0), literal(3))).has_value());
  auto mod = reads(2, Op::Mod, index(0), literal(3));
  CHECK(message_of(mod) == "subscript i % 3 of A runs from 0 to 2, but dimension 0 of A has extent 2");
  CHECK(check_domains(mod).error().note == "i in [0, 6)");
  CHECK(check_domains(reads(21, Op::Mul, index(0), index(1))).has_value());
  CHECK(message_of(reads(20, Op::Mul, index(0), index(1))).find("runs from 0 to 20,") != std::string::npos);
  // Division rounds down: -1/2 is -1.
  auto halves = reads(3, Op::Div, index(0), literal(2));
  CHECK(check_domains(halves).has_value());
  halves.statements[0].indices[0].lo = -1;
  CHECK(message_of(halves).find("runs from -1 to 2,") != std::string::npos);
  // Only points of the domain count: 1 <= i < 6.
  halves.statements[0].constraints = {{affine({{0, 1}}, -1), 5}};
  CHECK(check_domains(halves).has_value());
  // What reads, and what has more than 100,000 points, is left to run time.
  mod.statements[0].value = read(0, {Subscript(read(0, {at(1)}))});
  mod.tensors[0].extents[0] = 5;
  CHECK(check_domains(mod).has_value());
  auto large = reads(2, Op::Mod, index(0), literal(3));
  large.statements[0].indices[0].hi = 100'001;
  CHECK(check_domains(large).has_value());
}

TEST_CASE("empty ranges excuse a statement only beside an extent of 0") {
  auto program = reads_vector({0, 3}, 2, at(1));
  REQUIRE_FALSE(check_domains(program));
  CHECK(check_domains(program).error().code == "empty-range");
  CHECK(check_domains(program, true).has_value());
  program.tensors[0].extents[0] = 0;
  CHECK(check_domains(program).has_value());
  // Another statement of such a program is still checked.
  program.statements[0].indices[0].hi = 1;
  CHECK(message_of(program) == "subscript j of A runs from 0 to 2, but dimension 0 of A has extent 0");
}

TEST_CASE("sizes and bounds agree with going through every point") {
  std::mt19937 random(3);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  const auto pick_affine = [&](int denominator) {
    AffineExpr expr = affine({}, pick(-3, 3), denominator);
    for (int i = 0; i < 3; ++i)
      if (const int coefficient = pick(-2, 3)) expr.terms.emplace_back(i, coefficient);
    return expr;
  };
  int outside = 0, empty = 0;
  for (int round = 0; round < 300; ++round) {
    auto program = reads_vector({1, 1, 1}, 6, pick_affine(pick(1, 3)));
    auto& statement = program.statements[0];
    const AffineExpr subscript = std::get<AffineExpr>(std::get<Read>(statement.value->node).subscripts[0]);
    for (auto& index : statement.indices) index = {"i", pick(-3, 0), pick(1, 4), ""};
    for (int i = pick(0, 2); i > 0; --i) statement.constraints.push_back({pick_affine(pick(1, 2)), pick(0, 4)});

    int points = 0;
    bool inside = true;
    for (int64_t a = range(statement.indices[0]).lo; a < range(statement.indices[0]).hi; ++a)
      for (int64_t b = range(statement.indices[1]).lo; b < range(statement.indices[1]).hi; ++b)
        for (int64_t c = range(statement.indices[2]).lo; c < range(statement.indices[2]).hi; ++c) {
          const auto numerator = [&](const AffineExpr& expr) {
            return expr.constant.constant().value() + expr.coefficient(0) * a + expr.coefficient(1) * b +
                   expr.coefficient(2) * c;
          };
          bool valid = numerator(subscript) % subscript.denominator == 0;
          for (const auto& [expr, bound] : statement.constraints) {
            const int64_t value = numerator(expr) / expr.denominator;
            valid &= numerator(expr) % expr.denominator == 0 && value >= 0 && value < bound.constant().value();
          }
          if (!valid) continue;
          ++points;
          const int64_t element = numerator(subscript) / subscript.denominator;
          inside &= element >= 0 && element < 6;
        }
    CAPTURE(round);
    CHECK(size_of(program) == points);
    CHECK(check_domains(program).has_value() == inside);
    outside += inside ? 0 : 1;
    empty += points == 0 ? 1 : 0;
  }
  // The random programs are of every kind.
  CHECK(outside > 50);
  CHECK(outside < 250);
  CHECK(empty > 10);
}

TEST_CASE("what is too large to analyse is an error, not a hang") {
  auto triangle = running_sum(1'000'000'000);
  const auto counted = domain_size(triangle, triangle.statements[0]);
  REQUIRE_FALSE(counted);
  CHECK(counted.error().code == "domain-too-complex");
  // Bounds need no counting, and flops() falls back on the ranges.
  CHECK(check_domains(triangle).has_value());
  CHECK(flops(triangle) == 1e18);

  const auto huge = reads_vector({INT64_MAX, INT64_MAX}, 5, affine({{0, INT64_MAX}, {1, 1}}));
  REQUIRE_FALSE(check_domains(huge));
  CHECK(check_domains(huge).error().code == "size-overflow");
}

TEST_CASE("dense quotients over many indices end with an error") {
  for (int seed = 0; seed < 2; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); };
    const auto dense = [&](int denominator) {
      AffineExpr expr = affine({}, pick(0, 5), denominator);
      for (int i = 0; i < 8; ++i) expr.terms.emplace_back(i, pick(1, 5));
      return expr;
    };
    auto program = reads_vector(std::vector<int64_t>(8, 9), 40, dense(5));
    auto& statement = program.statements[0];
    for (const int denominator : {3, 4, 5, 2, 3, 4, 5})
      statement.value = call(Op::Mul, {statement.value, read(0, {dense(denominator)})});
    for (int i = 0; i < 2; ++i) statement.constraints.push_back({dense(1), 100});
    CAPTURE(seed);
    const auto domain = infer_domain(program, statement);
    REQUIRE_FALSE(domain);
    CHECK(domain.error().code == "domain-too-complex");
  }
}
