#include <catch2/catch.hpp>
#include <random>

#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

/// O(target) += product of vectors read at `reads`, with extents; indices i, j, k... without ranges.
Program contraction(size_t indices, std::vector<AffineExpr> target, std::vector<int64_t> target_extents,
                    std::vector<std::pair<std::vector<AffineExpr>, std::vector<int64_t>>> reads,
                    std::vector<Constraint> constraints = {}) {
  Program program;
  program.name = "p";
  Statement statement;
  for (size_t i = 0; i < indices; ++i) statement.indices.push_back({std::string{static_cast<char>('i' + i)}, 0, 0, ""});
  for (const auto& [subscripts, extents] : reads) {
    const int number = static_cast<int>(program.tensors.size());
    program.tensors.push_back({std::string{static_cast<char>('A' + number)},
                               DType::F32,
                               {extents.begin(), extents.end()},
                               Role::Input,
                               Storage::row()});
    program.inputs.push_back(number);
    const auto factor = read(number, {subscripts.begin(), subscripts.end()});
    statement.value = statement.value ? call(Op::Mul, {statement.value, factor}) : factor;
  }
  statement.target = static_cast<int>(program.tensors.size());
  program.tensors.push_back(
      {"O", DType::F32, {target_extents.begin(), target_extents.end()}, Role::Output, Storage::row()});
  program.outputs = {statement.target};
  statement.subscripts = std::move(target);
  statement.constraints = std::move(constraints);
  statement.op = Aggregation::Sum;
  program.statements = {statement};
  return program;
}

std::string box_text(const Statement& statement) {
  std::string text;
  for (const auto& index : statement.indices)
    text += index.name + " in [" + index.lo.str() + "," + index.hi.str() + ") ";
  for (const auto& constraint : statement.constraints)
    text += "; " + to_text(statement, constraint.expr) + " < " + constraint.bound.str();
  return text;
}

std::string inferred(Program program) {
  const auto empty = infer_domain(program, program.statements[0]);
  REQUIRE(empty);
  CHECK_FALSE(*empty);
  CHECK(ir::bind(program, {}).has_value());
  return box_text(program.statements[0]);
}

Diagnostic refused(Program program) {
  const auto empty = infer_domain(program, program.statements[0]);
  REQUIRE_FALSE(empty);
  return empty.error();
}

}  // namespace

TEST_CASE("ranges are the tightest box around what the accesses allow together") {
  CHECK(inferred(contraction(2, {at(0)}, {4}, {{{at(0), at(1)}, {4, 7}}})) == "i in [0,4) j in [0,7) ");
  // A convolution: the window leaves no room for a border.
  CHECK(inferred(contraction(2, {at(0)}, {9}, {{{affine({{0, 1}, {1, 1}})}, {9}}, {{at(1)}, {3}}})) ==
        "i in [0,9) j in [0,3) ; i + j < 9");
  CHECK(inferred(contraction(2, {at(0)}, {7}, {{{affine({{0, 1}, {1, 1}})}, {9}}, {{at(1)}, {3}}})) ==
        "i in [0,7) j in [0,3) ");
  // Indices may be negative: 0 <= i + 2 < 5.
  CHECK(inferred(contraction(1, {}, {}, {{{affine({{0, 1}}, 2)}, {5}}})) == "i in [-2,3) ");
  CHECK(inferred(contraction(1, {}, {}, {{{affine({{0, -1}}, 4)}, {5}}})) == "i in [0,5) ");
  // Only jointly bounded: i + j and i - j inside [0, 5).
  CHECK(inferred(contraction(2, {}, {}, {{{affine({{0, 1}, {1, 1}}), affine({{0, 1}, {1, -1}})}, {5, 5}}})) ==
        "i in [0,5) j in [-2,3) ; i + j < 5; i - j < 5");
  // Coefficients with a common factor: 0 <= 6*i < 20.
  CHECK(inferred(contraction(1, {affine({{0, 2}})}, {6}, {{{affine({{0, 6}})}, {20}}})) == "i in [0,3) ");
}

TEST_CASE("quotients are exact") {
  // (i - 1)/2 with |I| = 3, |O| = 6: 1, 3, 5.
  CHECK(inferred(contraction(1, {at(0)}, {6}, {{{affine({{0, 1}}, -1, 2)}, {3}}})) == "i in [1,6) ");
  // i/2 and i/3 at once: multiples of 6.
  CHECK(inferred(contraction(1, {}, {}, {{{affine({{0, 1}}, 0, 2)}, {9}}, {{affine({{0, 1}}, 0, 3)}, {5}}})) ==
        "i in [0,13) ");
  // A constraint's quotient stays even where the box implies its bounds.
  CHECK(inferred(contraction(1, {at(0)}, {9}, {{{at(0)}, {9}}}, {{affine({{0, 1}}, 0, 4), 3}})) ==
        "i in [0,9) ; i/4 < 3");
}

TEST_CASE("constraints bound like accesses, and repeated ones go") {
  auto program = contraction(2, {at(0)}, {6}, {{{at(1)}, {6}}},
                             {{affine({{0, 1}, {1, -1}}), 6}, {affine({{0, 1}, {1, -1}}), 9}, {at(1), 4}, {at(0), 99}});
  CHECK(inferred(program) == "i in [0,6) j in [0,4) ; i - j < 6");
  REQUIRE(infer_domain(program, program.statements[0]));
  CHECK(program.statements[0].indices[1].reason == "constraint j < 4");
  CHECK(program.statements[0].indices[0].reason == "O(i), dimension 0");
  program = contraction(2, {}, {}, {{{affine({{0, 1}, {1, 1}})}, {9}}}, {{at(1), 3}});
  REQUIRE(infer_domain(program, program.statements[0]));
  CHECK(program.statements[0].indices[0].reason == "A(i + j), dimension 0");
  // The whole read, not the subscript alone.
  program = contraction(2, {at(1), at(0)}, {5, 5}, {{{affine({{0, 1}, {1, 1}}), affine({{0, 1}, {1, -1}})}, {5, 5}}});
  REQUIRE(infer_domain(program, program.statements[0]));
  CHECK(program.statements[0].indices[0].reason == "O(j,i), dimension 1");
  program = contraction(2, {}, {}, {{{affine({{0, 1}, {1, 1}}), affine({{0, 1}, {1, -1}})}, {5, 5}}});
  REQUIRE(infer_domain(program, program.statements[0]));
  CHECK(program.statements[0].indices[0].reason == "A(i + j,i - j), dimension 0; A(i + j,i - j), dimension 1");
}

TEST_CASE("an index that nothing bounds is named with a free direction") {
  auto error = refused(contraction(2, {}, {}, {{{affine({{0, 1}, {1, 1}})}, {9}}}));
  CHECK(error.code == "unbounded-index");
  CHECK(error.error_class == ErrorClass::Program);
  CHECK(error.message == "nothing bounds index i: i - j can be any integer");
  CHECK(refused(contraction(2, {at(0)}, {4}, {{{at(0)}, {4}}})).message == "nothing bounds index j");
  CHECK(refused(contraction(3, {affine({{0, 1}, {1, 1}})}, {4}, {{{affine({{1, 1}, {2, 2}})}, {4}}})).message ==
        "nothing bounds index i: 2*i + k - 2*j can be any integer");
  // Quotients bound nothing by themselves.
  CHECK(refused(contraction(2, {}, {}, {{{affine({{0, 1}, {1, -1}}, 1, 2)}, {3}}})).code == "unbounded-index");
}

TEST_CASE("an empty domain is no error") {
  // i - 100 < 50 over |A| = 10: nothing, so that even a product leaves 0.
  auto program = contraction(1, {}, {}, {{{at(0)}, {10}}}, {{affine({{0, 1}}, -100), 50}});
  CHECK(infer_domain(program, program.statements[0]).value());
  CHECK(range(program.statements[0].indices[0]).extent() == 0);
  CHECK(writes_nothing(program.statements[0]));
  CHECK(ir::bind(program, {}).has_value());
  CHECK(domain_size(program, program.statements[0]) == 0);
  // Parity: 2*i = 2*j + 1 has no solution.
  program = contraction(2, {}, {}, {{{at(0), at(1)}, {9, 9}}}, {{affine({{0, 2}, {1, -2}}, -1), 1}});
  CHECK(infer_domain(program, program.statements[0]).value());
  program = contraction(1, {}, {}, {{{affine({{0, 2}}, 1, 2)}, {9}}});
  CHECK(infer_domain(program, program.statements[0]).value());
}

TEST_CASE("numbers that would keep integer sets busy are refused") {
  const int64_t big = int64_t{1} << 40;
  auto program = contraction(2, {}, {}, {{{affine({{0, big}, {1, big + 1}}), affine({{0, 1}, {1, -1}})}, {9, 9}}});
  CHECK(refused(program).code == "size-overflow");
  // One index with a stride as long is only arithmetic.
  CHECK(inferred(contraction(1, {}, {}, {{{affine({{0, big}})}, {9}}})) == "i in [0,1) ");
}

TEST_CASE("inferred boxes agree with going through every point") {
  std::mt19937 random(5);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  const auto pick_affine = [&] {
    AffineExpr expr = affine({}, pick(-2, 4), pick(0, 3) ? 1 : pick(2, 3));
    for (int i = 0; i < 2; ++i)
      if (const int coefficient = pick(-2, 3)) expr.terms.emplace_back(i, coefficient);
    return expr;
  };
  int bounded = 0, empty = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<AffineExpr> exprs{pick_affine(), pick_affine(), pick_affine()};
    const std::vector<int64_t> extents{pick(1, 6), pick(1, 6), pick(1, 9)};
    auto program = contraction(2, {exprs[0]}, {extents[0]}, {{{exprs[1]}, {extents[1]}}}, {{exprs[2], extents[2]}});
    const auto result = infer_domain(program, program.statements[0]);
    CAPTURE(round);
    if (!result) {
      CHECK(result.error().code == "unbounded-index");
      continue;
    }
    ++bounded;
    Range i{100, -100}, j{100, -100};
    // Three expressions with coefficients up to 3 and values below 30: no bounded index leaves [-90, 90].
    for (int64_t a = -90; a <= 90; ++a)
      for (int64_t b = -90; b <= 90; ++b) {
        bool valid = true;
        for (int e = 0; e < 3; ++e) {
          const auto& expr = exprs[e];
          const int64_t n = expr.constant.constant().value() + expr.coefficient(0) * a + expr.coefficient(1) * b;
          valid &= n % expr.denominator == 0 && n >= 0 && n / expr.denominator < extents[e];
        }
        if (!valid) continue;
        i = {std::min(i.lo, a), std::max(i.hi, a + 1)};
        j = {std::min(j.lo, b), std::max(j.hi, b + 1)};
      }
    const auto& indices = program.statements[0].indices;
    CHECK(*result == (i.lo > i.hi));
    empty += *result ? 1 : 0;
    if (*result) continue;
    CHECK(range(indices[0]).lo == i.lo);
    CHECK(range(indices[0]).hi == i.hi);
    CHECK(range(indices[1]).lo == j.lo);
    CHECK(range(indices[1]).hi == j.hi);
  }
  CHECK(bounded > 150);
  CHECK(empty > 20);
}
