// Gather form against the statement it comes from: the same values, and the form itself.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/gather.h"
#include "frontend/ir/json.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::reference;

namespace {

struct Access {
  std::vector<AffineExpr> subscripts;
  std::vector<int64_t> extents;
};

/// O(...) op product of integer tensors, ranges inferred; indices i, j, k by number.
ir::Program contraction(size_t indices, const Access& target, const std::vector<Access>& reads,
                        std::vector<ir::Constraint> constraints = {}, Aggregation op = Aggregation::Sum) {
  Builder b;
  ExprPtr value;
  for (const auto& [subscripts, extents] : reads) {
    const auto factor = b.read(b.input(DType::I32, extents), {subscripts.begin(), subscripts.end()});
    value = value ? call(Op::Mul, {value, factor}) : factor;
  }
  const int o = b.tensor(Role::Output, DType::I32, target.extents, "O");
  auto& statement = b.add(o, target.subscripts, std::vector<std::pair<int64_t, int64_t>>(indices), op, value);
  for (size_t i = 0; i < indices; ++i) statement.indices[i].name = std::string{static_cast<char>('i' + i)};
  statement.constraints = std::move(constraints);
  const auto empty = ir::infer_domain(b.program(), statement);
  if (!empty) FAIL(empty.error().message);
  return b.program();
}

ir::Program gathered(const ir::Program& program) {
  ir::Program result = program;
  for (auto& statement : result.statements) {
    auto form = ir::gather_form(program, statement);
    if (!form) FAIL(form.error().message);
    statement = *form;
  }
  return result;
}

std::vector<int64_t> values(const ir::Program& program, uint64_t seed = 1) {
  return evaluate_one(program, random_inputs(program, seed)).integers;
}

/// "O(o0) = ...; o0 in [0,5) j in [0,3); 0 <= o0 - j < 3", after checking that the values stay and the form is stable.
std::string form(const ir::Program& program) {
  CHECK(ir::bind(program, {}).has_value());
  const auto result = gathered(program);
  CHECK(values(result) == values(program));
  CHECK(ir::to_json(gathered(result)) == ir::to_json(result));
  const auto& statement = result.statements[0];
  std::string text = ir::to_text(result, statement) + ";";
  for (const auto& index : statement.indices)
    text += " " + index.name + " in [" + index.lo.str() + "," + index.hi.str() + ")";
  for (const auto& constraint : statement.constraints)
    text += "; " + ir::to_text(statement, constraint.expr) + " < " + constraint.bound.str();
  return text;
}

AffineExpr sum(int64_t i, int64_t j, int64_t constant = 0, int64_t denominator = 1) {
  AffineExpr expr = affine({}, constant, denominator);
  if (i != 0) expr.terms.emplace_back(0, i);
  if (j != 0) expr.terms.emplace_back(1, j);
  return expr;
}

std::vector<int64_t> values_of(const ir::Program& program, std::vector<std::vector<int32_t>> data) {
  Inputs inputs;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto size = static_cast<int64_t>(data[i].size());
    inputs[static_cast<int>(i)] = i32({size}, data[i]);
  }
  const auto before = evaluate_one(program, inputs).integers;
  CHECK(evaluate_one(gathered(program), inputs).integers == before);
  return before;
}

}  // namespace

TEST_CASE("a scatter becomes a gather, reducing over the shorter index") {
  CHECK(form(contraction(2, {{sum(1, 1)}, {9}}, {{{at(0)}, {7}}, {{at(1)}, {3}}})) ==
        "O(o0) +=! t0(o0 - j) * t1(j); o0 in [0,9) j in [0,3); o0 - j < 7");
  CHECK(form(contraction(2, {{sum(1, 1)}, {9}}, {{{at(0)}, {3}}, {{at(1)}, {7}}})) ==
        "O(o0) +=! t0(i) * t1(o0 - i); i in [0,3) o0 in [0,9); o0 - i < 7");
}

TEST_CASE("strided, reversed and diagonal targets") {
  CHECK(form(contraction(2, {{sum(2, 0)}, {9}}, {{{sum(2, 0), at(1)}, {9, 4}}})) ==
        "O(2*i) +=! t0(2*i,j); i in [0,5) j in [0,4)");
  CHECK(form(contraction(1, {{sum(-1, 0, 6)}, {7}}, {{{at(0)}, {7}}}, {}, Aggregation::Assign)) ==
        "O(o0) = t0(6 - o0); o0 in [0,7)");
  CHECK(form(contraction(1, {{at(0), at(0)}, {5, 5}}, {{{at(0)}, {5}}}, {}, Aggregation::Assign)) ==
        "O(i,i) = t0(i); i in [0,5)");
  CHECK(form(contraction(1, {{sum(1, 0, -1, 2)}, {3}}, {{{at(0)}, {7}}}, {}, Aggregation::Assign)) ==
        "O(o0) = t0(2*o0 + 1); o0 in [0,3)");
  CHECK(form(contraction(2, {{sum(2, 3)}, {20}}, {{{at(0)}, {5}}, {{at(1)}, {4}}})) ==
        "O(o0) +=! t0(3*i_ - o0) * t1(o0 - 2*i_); i_ in [0,8) o0 in [0,18); 3*i_ - o0 < 5; o0 - 2*i_ < 4");
  CHECK(form(contraction(2, {{at(0), sum(1, 2)}, {4, 9}}, {{{at(0), at(1)}, {4, 3}}}, {}, Aggregation::Assign)) ==
        "O(i,i + 2*j) = t0(i,j); i in [0,4) j in [0,3)");
  CHECK(form(contraction(2, {{sum(1, -1), sum(1, 1)}, {4, 9}}, {{{at(0), at(1)}, {6, 6}}}, {}, Aggregation::Assign)) ==
        "O(o0,o0 + 2*j) = t0(o0 + j,j); o0 in [0,4) j in [0,5); o0 + j < 6; o0 + 2*j < 9");
  CHECK(form(contraction(1, {{affine({}, 1), at(0)}, {2, 3}}, {{{at(0)}, {3}}}, {}, Aggregation::Assign)) ==
        "O(1,i) = t0(i); i in [0,3)");
}

TEST_CASE("a stride and what fills it become a quotient and a phase") {
  const ir::Constraint below_three{affine({{1, 1}}), 3};
  CHECK(form(contraction(2, {{sum(3, 1)}, {15}}, {{{at(0)}, {5}}}, {below_three}, Aggregation::Assign)) ==
        "O(3*i + j) = t0(i); i in [0,5) j in [0,3)");
  // A transposed convolution: two of its taps meet in an element at most.
  CHECK(form(contraction(2, {{sum(2, 1)}, {15}}, {{{at(0)}, {7}}, {{at(1)}, {3}}})) ==
        "O(2*o0 + j_phase) +=! t0(o0 - j) * t1(2*j + j_phase); o0 in [0,8) j in [0,2) j_phase in [0,2); o0 - j < 7; "
        "2*j + j_phase < 3");
  CHECK(form(contraction(2, {{sum(-4, 1, 30)}, {40}}, {{{at(0)}, {7}}, {{at(1)}, {9}}}, {}, Aggregation::Max)) ==
        "O(4*o0 + j_phase + 30) max=! t0(j - o0) * t1(4*j + j_phase); o0 in [-6,3) j in [0,3) j_phase in [0,4); "
        "j - o0 < 7; 4*j + j_phase < 9");
}

TEST_CASE("plain statements stay, but for constraints that their box implies") {
  auto program = contraction(2, {{at(0)}, {6}}, {{{at(1)}, {6}}}, {{sum(1, -1), 6}});
  program.statements[0].constraints.push_back({at(0), 6});
  CHECK(form(program) == "O(i) +=! t0(j); i in [0,6) j in [0,6); i - j < 6");
  CHECK(form(contraction(2, {{}, {}}, {{{sum(1, 1), sum(1, -1)}, {4, 5}}})) ==
        "O +=! t0(i + j,i - j); i in [0,4) j in [-2,2); i + j < 4; i - j < 5");
}

TEST_CASE("quotients: the published vectors") {
  // Tile: docs/edsl.md.
  CHECK(values_of(contraction(1, {{at(0)}, {6}}, {{{sum(1, 0, -1, 2)}, {3}}}), {{7, 8, 9}}) ==
        std::vector<int64_t>{0, 7, 0, 8, 0, 9});
  CHECK(values_of(contraction(2, {{at(0)}, {5}}, {{{sum(1, -1, 1, 2)}, {3}}, {{at(1)}, {3}}}),
                  {{1, 2, 3}, {1, 2, 3}}) == std::vector<int64_t>{2, 5, 4, 9, 6});
}

TEST_CASE("quotients leave no denominator") {
  CHECK(form(contraction(1, {{at(0)}, {6}}, {{{sum(1, 0, -1, 2)}, {3}}})) == "O(2*o0 + 1) +=! t0(o0); o0 in [0,3)");
  // Two congruences at once: i = 0 modulo 2 and i = 1 modulo 3.
  CHECK(form(contraction(1, {{at(0)}, {20}}, {{{sum(1, 0, 0, 2)}, {9}}, {{sum(1, 0, -1, 3)}, {9}}})) ==
        "O(6*o0 + 4) +=! t0(3*o0 + 2) * t1(2*o0 + 1); o0 in [0,3)");
  // No coefficient is invertible: (2*i + 3*j)/6.
  const auto mixed = contraction(2, {{at(0), at(1)}, {9, 7}}, {{{sum(2, 3, 0, 6)}, {6}}}, {}, Aggregation::Assign);
  CHECK(form(mixed) == "O(3*o0,2*o1) = t0(o0 + o1); o0 in [0,3) o1 in [0,4)");
  // Constraints have quotients, too: 3, 7 and 11.
  CHECK(form(contraction(1, {{at(0)}, {20}}, {{{at(0)}, {20}}}, {{sum(1, 0, -3, 4), 3}})) ==
        "O(4*o0 + 3) +=! t0(4*o0 + 3); o0 in [0,3)");
}

TEST_CASE("what can never be written leaves 0, even of a product") {
  for (const auto op : {Aggregation::Sum, Aggregation::Product, Aggregation::Min, Aggregation::Max}) {
    const auto never = contraction(1, {{}, {}}, {{{at(0)}, {10}}}, {{sum(1, 0, -100), 50}}, op);
    CHECK(values(never) == std::vector<int64_t>{0});
    CHECK(values(gathered(never)) == std::vector<int64_t>{0});
    // i = 0 modulo 2 and i = 1 modulo 2.
    const auto odd = contraction(1, {{at(0)}, {3}}, {{{sum(1, 0, 0, 2)}, {9}}, {{sum(1, 0, 1, 2)}, {9}}}, {}, op);
    CHECK(values(odd) == std::vector<int64_t>{0, 0, 0});
    CHECK(values(gathered(odd)) == std::vector<int64_t>{0, 0, 0});
    CHECK(ir::is_plain(gathered(odd).statements[0]));
  }
}

TEST_CASE("elements without an assignment are 0, previous or unwritten, never the identity") {
  for (const auto op : {Aggregation::Product, Aggregation::Min, Aggregation::Max}) {
    // O(2*i) over 3 elements of 7.
    auto program = contraction(1, {{sum(2, 0)}, {7}}, {{{at(0)}, {3}}}, {}, op);
    const auto data = i32({3}, {-5, 4, -3});
    CHECK(evaluate_one(program, {{0, data}}).integers == std::vector<int64_t>{-5, 0, 4, 0, -3, 0, 0});
    program.tensors.push_back({"P", DType::I32, {7}, Role::Input, ir::Storage::row()});
    program.inputs.push_back(2);
    program.statements[0].unwritten = 2;
    const auto other = i32({7}, {1, 2, 3, 4, 5, 6, 7});
    CHECK(evaluate_one(program, {{0, data}, {2, other}}).integers == std::vector<int64_t>{-5, 2, 4, 4, -3, 6, 7});
    CHECK(evaluate_one(gathered(program), {{0, data}, {2, other}}).integers ==
          std::vector<int64_t>{-5, 2, 4, 4, -3, 6, 7});
    CHECK(ir::to_json(ir::program_from_json(ir::to_json(program)).value()) == ir::to_json(program));
  }
}

TEST_CASE("an index's value follows it") {
  // O(i + j) = max over i of 10*i + j, written with the indices' values.
  auto program = contraction(2, {{sum(1, 1)}, {6}}, {{{at(0)}, {4}}, {{at(1)}, {3}}}, {}, Aggregation::Max);
  program.statements[0].value = call(Op::Add, {call(Op::Mul, {index_value(0), integer(10)}), index_value(1)});
  CHECK(values(program) == std::vector<int64_t>{0, 10, 20, 30, 31, 32});
  CHECK(values(gathered(program)) == std::vector<int64_t>{0, 10, 20, 30, 31, 32});
}

TEST_CASE("one element assigned twice is an error with both assignments") {
  auto program = contraction(2, {{sum(2, 1)}, {9}}, {{{at(0)}, {3}}}, {{at(1), 4}}, Aggregation::Assign);
  auto bound = ir::bind(program, {});
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == "assigned-twice");
  const auto collision = ir::find_collision(program, program.statements[0]).value().value();
  CHECK(collision.first != collision.second);
  CHECK(2 * collision.first[0] + collision.first[1] == collision.element[0]);
  CHECK(2 * collision.second[0] + collision.second[1] == collision.element[0]);
  // An unpooling that does not overlap; an index with one value.
  CHECK(ir::bind(contraction(2, {{sum(2, 1)}, {9}}, {{{at(0)}, {3}}}, {{at(1), 2}}, Aggregation::Assign), {}));
  CHECK(ir::bind(contraction(2, {{at(0)}, {3}}, {{{at(0), at(1)}, {3, 1}}}, {}, Aggregation::Assign), {}));
  bound = ir::bind(contraction(2, {{at(0)}, {3}}, {{{at(0), at(1)}, {3, 2}}}, {}, Aggregation::Assign), {});
  REQUIRE_FALSE(bound);
  CHECK(bound.error().message == "O(0) is assigned twice: for i = 0, j = 0 and for i = 0, j = 1");
  CHECK(ir::bind(contraction(2, {{}, {}}, {{{at(0), at(1)}, {3, 3}}}, {{sum(1, 1, -4), 2}}, Aggregation::Assign), {}));
}

/// Calls visit(point, element) for every assignment of a statement whose ranges and constraints are small.
template <typename Visit>
void for_each_assignment(const ir::Statement& statement, const Visit& visit) {
  std::vector<AffineExpr> integers = statement.subscripts;
  ir::for_each_read(*statement.value, [&](const ir::Read& read) {
    for (const auto& subscript : read.subscripts) integers.push_back(std::get<AffineExpr>(subscript));
  });
  std::vector<int64_t> point;
  const auto value = [&](const AffineExpr& expr) -> std::optional<int64_t> {
    int64_t numerator = expr.constant.constant().value();
    for (const auto& [index, factor] : expr.terms) numerator += factor * point[static_cast<size_t>(index)];
    if (numerator % expr.denominator != 0) return std::nullopt;
    return numerator / expr.denominator;
  };
  const std::function<void()> walk = [&] {
    if (point.size() < statement.indices.size()) {
      const auto [lo, hi] = ir::range(statement.indices[point.size()]);
      for (int64_t i = lo; i < hi; ++i) {
        point.push_back(i);
        walk();
        point.pop_back();
      }
      return;
    }
    for (const auto& expr : integers)
      if (!value(expr)) return;
    for (const auto& [expr, bound] : statement.constraints) {
      const auto at = value(expr);
      if (!at || *at < 0 || *at >= bound.constant().value()) return;
    }
    std::vector<int64_t> element;
    for (const auto& subscript : statement.subscripts) element.push_back(value(subscript).value());
    visit(point, element);
  };
  walk();
}

TEST_CASE("random statements keep their values, and collide exactly where elements are assigned twice") {
  std::mt19937 random(9);
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  const auto pick_affine = [&](int denominators) {
    AffineExpr expr = affine({}, pick(-2, 4), pick(0, 3) ? 1 : pick(1, denominators));
    for (int i = 0; i < 3; ++i)
      if (const int coefficient = pick(-2, 3)) expr.terms.emplace_back(i, coefficient);
    return expr;
  };
  int changed = 0, collided = 0, injective = 0;
  for (int round = 0; round < 200; ++round) {
    Builder b;
    const int64_t m = pick(1, 9), n = pick(1, 9);
    const int a = b.input(DType::I32, {30, 30}), o = b.output(DType::I32, {m, n});
    const auto op = static_cast<Aggregation>(pick(0, 4));
    auto& statement = b.add(o, {pick_affine(2), pick_affine(1)}, {{0, 0}, {0, 0}, {0, 0}}, op,
                            b.read(a, {pick_affine(3), pick_affine(2)}));
    for (int i = 0; i < 3; ++i) statement.constraints.push_back({affine({{i, 1}}, pick(-1, 2)), pick(1, 5)});
    REQUIRE(ir::infer_domain(b.program(), statement));
    const auto program = b.program();
    CAPTURE(round);
    const auto form = gathered(program);
    CHECK(ir::to_json(gathered(form)) == ir::to_json(form));
    changed += ir::to_json(form) != ir::to_json(program) ? 1 : 0;
    const auto collision = ir::find_collision(program, program.statements[0]);
    REQUIRE(collision);
    std::map<std::vector<int64_t>, std::vector<int64_t>> first;  // by element
    std::set<int> differing;
    ir::Range written{INT64_MAX, INT64_MIN};
    for_each_assignment(program.statements[0], [&](const auto& point, const auto& element) {
      written = {std::min(written.lo, element[0]), std::max(written.hi, element[0] + 1)};
      const auto& other = first.try_emplace(element, point).first->second;
      for (int i = 0; i < 3; ++i)
        if (point[i] != other[i] && !program.statements[0].is_reduction(i)) differing.insert(i);
    });
    const auto shared = ir::shared_indices(program, program.statements[0]);
    REQUIRE(shared);
    CHECK(*shared == std::vector<int>(differing.begin(), differing.end()));
    const auto range = ir::value_range(program.statements[0], program.statements[0].subscripts[0]);
    REQUIRE(range);
    CHECK(range->extent() == (first.empty() ? 0 : written.extent()));
    if (!first.empty()) CHECK(range->lo == written.lo);
    // Counting the assignments of each element: a sum of ones.
    auto counting = program;
    counting.statements[0].op = Aggregation::Sum;
    counting.statements[0].value =
        call(Op::Add, {integer(1), call(Op::Mul, {integer(0), program.statements[0].value})});
    const auto counts = values(counting);
    CHECK(values(gathered(counting)) == counts);
    CHECK(collision->has_value() == (*std::max_element(counts.begin(), counts.end()) > 1));
    (collision->has_value() ? collided : injective) += 1;
    if (op != Aggregation::Assign || !*collision) CHECK(values(form) == values(program));
    CHECK(values(ir::canonicalize(counting)) == counts);
    CHECK(ir::content_hash(ir::canonicalize(program)) == ir::content_hash(program));
  }
  CHECK(changed > 100);
  CHECK(collided > 8);
  CHECK(injective > 50);
}
