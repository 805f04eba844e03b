// Content hashes of random programs: spelling never shows, what is computed always does (decision 9).
#include <catch2/catch.hpp>
#include <algorithm>
#include <numeric>
#include <random>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "frontend/ir/rewrite.h"

using namespace tile_tune;
using namespace tile_tune::ir;

namespace {

using Numbers = std::vector<int>;
using Random = std::mt19937;

int pick(Random& random, int lo, int hi) { return lo + static_cast<int>(random() % (hi - lo + 1)); }

ExprPtr call(Op op, std::vector<ExprPtr> arguments) {
  const DType type = arguments[0]->type;
  return make_expr(type, Call{op, std::move(arguments)});
}

/// Programs of two statements; the second reads the first one's target. Few different extents and subscripts, so that
/// many parts look alike.
class Generator {
 public:
  explicit Generator(Random& random) : random_(random), type_(pick(random, 0, 1) ? DType::F32 : DType::I32) {}

  Program program() {
    program_.name = "p";
    const int inputs = pick(random_, 1, 4);
    for (int i = 0; i < inputs; ++i) {
      std::vector<SizeExpr> extents;
      for (int rank = pick(random_, 1, 2); rank > 0; --rank) extents.push_back(20);
      program_.tensors.push_back({"in" + std::to_string(i), type_, extents, Role::Input, Storage::row()});
      program_.inputs.push_back(i);
    }
    add_statement(Role::Temporary);
    add_statement(Role::Output);
    return program_;
  }

 private:
  void add_statement(Role role) {
    Statement statement;
    statement.target = static_cast<int>(program_.tensors.size());
    const int outputs = pick(random_, 0, 2), reductions = pick(random_, 0, 2);
    for (int i = 0; i < outputs + reductions; ++i)
      statement.indices.push_back({"i" + std::to_string(i), 0, pick(random_, 3, 4), ""});
    for (int i = 0; i < outputs; ++i) statement.subscripts.push_back(AffineExpr::index(i));
    statement.op = reductions > 0 ? Aggregation::Sum : Aggregation::Assign;
    statement.accumulator = type_;
    if (outputs + reductions >= 2 && pick(random_, 0, 3) == 0)
      statement.constraints.push_back({{{{0, 1}, {1, pick(random_, 0, 1) ? 1 : -1}}, 0, 1}, 3});
    statement.value = value(static_cast<int>(statement.indices.size()), pick(random_, 1, 3));
    program_.tensors.push_back(
        {role == Role::Output ? "out" : "t", type_, std::vector<SizeExpr>(outputs, 20), role, Storage::row()});
    if (role == Role::Output) program_.outputs = {statement.target};
    program_.statements.push_back(std::move(statement));
  }

  ExprPtr value(int indices, int depth) {
    if (depth > 0) {
      constexpr Op kOps[] = {Op::Add, Op::Mul, Op::Max, Op::Sub};
      return call(kOps[pick(random_, 0, 3)], {value(indices, depth - 1), value(indices, depth - 1)});
    }
    if (pick(random_, 0, 5) == 0) return make_expr(type_, Literal{static_cast<int64_t>(pick(random_, 1, 3))});
    // The last tensor is a temporary only once the first statement is there.
    const int tensor = pick(random_, 0, static_cast<int>(program_.tensors.size()) - 1);
    std::vector<Subscript> subscripts;
    for (size_t d = 0; d < program_.tensors[tensor].extents.size(); ++d) {
      AffineExpr expr;
      for (int i = 0; i < indices; ++i)
        if (pick(random_, 0, 2) == 0) expr.terms.emplace_back(i, pick(random_, 1, 2));
      subscripts.push_back(expr);
    }
    return make_expr(type_, Read{tensor, std::move(subscripts)});
  }

  Random& random_;
  DType type_;
  Program program_;
};

// ---- the same program, spelled differently ----

Numbers shuffled(size_t count, Random& random) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random);
  return numbers;
}

/// a op (b op c) as (a op b) op c, perhaps.
void regroup(Call& node, Random& random) {
  const auto* right = std::get_if<Call>(&node.arguments[1]->node);
  if (!right || right->op != node.op || random() % 2) return;
  const auto [b, c] = std::pair(right->arguments[0], right->arguments[1]);
  node.arguments = {call(node.op, {node.arguments[0], b}), c};
}

/// Operands swapped, and chains of integers grouped differently.
void reorder(Expr& expr, Random& random) {
  auto* node = std::get_if<Call>(&expr.node);
  if (!node || node->op == Op::Sub) return;
  if (random() % 2) std::swap(node->arguments[0], node->arguments[1]);
  if (expr.type == DType::F32 && node->op != Op::Max) return;
  regroup(*node, random);
}

Program respelled(const Program& program, Random& random) {
  Program result = program;
  const auto tensors = shuffled(program.tensors.size(), random);
  for (size_t i = 0; i < tensors.size(); ++i) {
    result.tensors[tensors[i]] = program.tensors[i];
    result.tensors[tensors[i]].name = "name" + std::to_string(random() % 1000) + "_" + std::to_string(i);
  }
  for (auto* list : {&result.inputs, &result.outputs}) {
    for (auto& number : *list) number = tensors[number];
    std::shuffle(list->begin(), list->end(), random);
  }
  for (auto& statement : result.statements) {
    statement.target = tensors[statement.target];
    rewrite(statement, {[](AffineExpr&) {},
                        [&](Expr& expr) {
                          if (auto* read = std::get_if<Read>(&expr.node)) read->tensor = tensors[read->tensor];
                          reorder(expr, random);
                        }});
    if (auto term = *statement.value; statement.op == Aggregation::Sum) {
      if (auto* product = std::get_if<Call>(&term.node); product && product->op == Op::Mul) regroup(*product, random);
      statement.value = std::make_shared<const Expr>(term);
    }
    renumber_indices(statement, shuffled(statement.indices.size(), random));
    for (auto& index : statement.indices) index.name = "index" + std::to_string(random() % 1000);
    std::shuffle(statement.constraints.begin(), statement.constraints.end(), random);
  }
  return result;
}

// ---- another program ----

/// Changes one thing that a program computes; false where this change has nothing to work on.
bool change(Program& program, int kind, Random& random) {
  auto& statement = program.statements[random() % 2];
  int candidates = 0;
  const auto at_one_node = [&](auto matches, auto edit) {
    rewrite(statement, {[](AffineExpr&) {}, [&](Expr& expr) { candidates += matches(expr) ? 1 : 0; }});
    if (candidates == 0) return false;
    int chosen = static_cast<int>(random() % candidates);
    rewrite(statement, {[](AffineExpr&) {},
                        [&](Expr& expr) {
                          if (matches(expr) && chosen-- == 0) edit(expr);
                        }});
    return true;
  };
  const auto is_call = [](const Expr& expr) { return std::holds_alternative<Call>(expr.node); };
  const auto is_read = [](const Expr& expr) {
    const auto* read = std::get_if<Read>(&expr.node);
    return read && !read->subscripts.empty();
  };
  switch (kind) {
    case 0:  // an operator
      return at_one_node(is_call, [](Expr& expr) {
        auto& op = std::get<Call>(expr.node).op;
        op = op == Op::Min ? Op::Max : Op::Min;
      });
    case 1:  // a shift
      return at_one_node(is_read, [](Expr& expr) {
        auto& subscript = std::get<AffineExpr>(std::get<Read>(expr.node).subscripts[0]);
        subscript.constant = subscript.constant + 1;
      });
    case 2:  // a literal
      return at_one_node([](const Expr& expr) { return std::holds_alternative<Literal>(expr.node); },
                         [](Expr& expr) { expr.node = Literal{int64_t{77}}; });
    case 3:  // a range
      if (statement.indices.empty()) return false;
      statement.indices[random() % statement.indices.size()].hi = 9;
      return true;
    case 4:  // an extent
      program.tensors[random() % program.tensors.size()].extents.push_back(1);
      return true;
    case 5:  // an aggregation
      statement.op = statement.op == Aggregation::Max ? Aggregation::Min : Aggregation::Max;
      return true;
    case 6:  // a type
      statement.accumulator = DType::F64;
      return true;
    default:  // a constraint
      if (statement.indices.empty()) return false;
      statement.constraints.push_back({AffineExpr::index(0), 2});
      return true;
  }
}

}  // namespace

TEST_CASE("no spelling shows in a hash, and canonical programs are the same but for names") {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const auto program = Generator(random).program();
    const auto canonical = canonicalize(program);
    CAPTURE(seed);
    CHECK(to_json(canonicalize(canonical)) == to_json(canonical));
    for (int i = 0; i < 8; ++i) {
      const auto other = respelled(program, random);
      CHECK(content_hash(other) == content_hash(program));
      CHECK(family_hash(other) == family_hash(program));
    }
  }
}

TEST_CASE("every change of what is computed shows in the hash") {
  int changes = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const auto program = Generator(random).program();
    const auto hash = content_hash(program);
    for (int kind = 0; kind < 8; ++kind) {
      auto other = program;
      if (!change(other, kind, random)) continue;
      ++changes;
      CAPTURE(seed, kind);
      CHECK(content_hash(other) != hash);
    }
  }
  CHECK(changes > 1500);
}

TEST_CASE("a difference's operands keep their order") {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    auto program = Generator(random).program();
    auto& statement = program.statements[1];
    statement.value = call(Op::Sub, {statement.value, make_expr(statement.value->type, Literal{int64_t{5}})});
    auto other = program;
    const auto arguments = std::get<Call>(statement.value->node).arguments;
    other.statements[1].value = call(Op::Sub, {arguments[1], arguments[0]});
    CHECK(content_hash(other) != content_hash(program));
  }
}
