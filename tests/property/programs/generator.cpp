#include "tests/property/programs/generator.h"

#include <algorithm>

#include "frontend/ir/canonical.h"
#include "frontend/ir/guarded_terms.h"
#include "frontend/ir/validate.h"
#include "tests/property/programs/draft.h"

namespace tile_tune::test {
namespace {

using ir::AffineExpr;
using ir::Aggregation;

// About a second of the reference for a program at most.
constexpr int64_t kMaxPoints = 100'000;

DType random_type(Draft& draft) {
  using Types = std::vector<DType>;
  if (draft.theme == Theme::Signs) return draft.random.pick(Types{DType::F32, DType::F32, DType::F64, DType::F16});
  if (draft.theme == Theme::Halves) return draft.random.pick(Types{DType::F16, DType::BF16});
  if (draft.theme == Theme::Gathers) return draft.random.pick(Types{DType::F32, DType::F64, DType::I64, DType::F16});
  // Single precision is what most programs are in.
  if (draft.chance(25)) return DType::F32;
  return static_cast<DType>(draft.random.below(static_cast<int>(DType::C64) + 1));
}

Aggregation random_aggregation(Draft& draft, DType type) {
  auto all = std::vector{Aggregation::Assign, Aggregation::Assign, Aggregation::Sum,
                         Aggregation::Sum,    Aggregation::Sum,    Aggregation::Product};
  if (!is_complex(type)) all.insert(all.end(), {Aggregation::Min, Aggregation::Max});
  return draft.random.pick(all);
}

ir::Index random_index(Draft& draft, int64_t points) {
  const int64_t lo = draft.kind(8, "range from another number than 0") ? draft.between(1, 3) : 0;
  int64_t extent = draft.between(1, 9);
  if (draft.kind(12, "long loop")) extent = draft.between(17, 67);
  extent = std::max<int64_t>(1, std::min(extent, kMaxPoints / points));
  if (draft.kind(1, "zero size")) extent = 0;
  return {"i" + std::to_string(draft.statement.indices.size()), lo, lo + extent, ""};
}

// One subscript per output index, then what makes a target more than plain indices.
void choose_target(Draft& draft, int outputs) {
  auto& statement = draft.statement;
  std::vector<int> order;
  for (int i = 0; i < outputs; ++i) order.push_back(i);
  draft.random.shuffle(order);
  for (const int i : order) statement.subscripts.push_back(AffineExpr::index(i));
  const bool reduces = statement.op != Aggregation::Assign;
  auto& subscripts = statement.subscripts;
  const int last = static_cast<int>(statement.indices.size()) - 1;
  if (!subscripts.empty() && draft.chance(30)) {
    auto& subscript = draft.chance(50) ? subscripts.front() : subscripts.back();
    const int index = subscript.terms[0].first;
    if (draft.kind(25, "strided target"))
      subscript.terms[0].second = draft.between(2, 3);
    else if (draft.kind(25, "reversed target"))
      subscript.terms[0].second = -1;
    else if (last != index && draft.kind(50, "target of two indices"))
      subscript.terms = {{std::min(index, last), draft.between(1, 2)}, {std::max(index, last), draft.between(1, 2)}};
    else if (reduces && draft.kind(50, "quotient target"))
      subscript.denominator = 2;
    else
      subscript.constant = draft.between(1, 2);
  }
  if (subscripts.size() < 4 && draft.kind(5, "constant target")) subscripts.push_back({{}, draft.between(0, 2), 1});
  if (!subscripts.empty() && subscripts.size() < 4 && draft.kind(5, "diagonal target"))
    subscripts.push_back(subscripts.front());
}

// Shifts the target's subscripts to start at 0 or a little later, and gives its extents.
std::vector<ir::SizeExpr> fit_target(Draft& draft) {
  std::vector<ir::SizeExpr> extents;
  for (auto& subscript : draft.statement.subscripts) {
    const Box box = box_of(draft.statement, subscript);
    if (box.lo < 0 || draft.chance(50)) subscript.constant = subscript.constant.constant().value() - box.lo;
    const Box fitted = box_of(draft.statement, subscript);
    const int64_t slack = draft.kind(10, "elements nothing writes") ? draft.between(1, 2) : 0;
    extents.push_back(fitted.hi / subscript.denominator + 1 + slack);
  }
  return extents;
}

void choose_constraints(Draft& draft) {
  auto& statement = draft.statement;
  if (statement.indices.size() < 2 || !draft.kind(12, "constraint")) return;
  AffineExpr expr{{{0, 1}, {static_cast<int>(statement.indices.size()) - 1, draft.chance(50) ? 1 : -1}}, 0, 1};
  const Box box = box_of(statement, expr);
  expr.constant = draft.between(-1, 1);
  statement.constraints.push_back({expr, draft.between(1, std::max<int64_t>(1, box.hi))});
}

// What elements start from, or are taken from where nothing writes them.
void choose_source(Draft& draft, DType type, const std::vector<ir::SizeExpr>& extents, bool output) {
  auto& statement = draft.statement;
  std::vector<int> known;
  for (int t = 0; t < static_cast<int>(draft.program.tensors.size()); ++t)
    if (draft.program.tensors[t].type == type && draft.program.tensors[t].extents == extents) known.push_back(t);
  const bool continues = draft.chance(50);
  int source = -1;
  if (!known.empty() && draft.kind(60, "continued tensor"))
    source = draft.random.pick(known);
  else if (output && continues && draft.kind(60, "in/out"))
    source = draft.add_tensor(type, extents, ir::Role::InOut);
  else
    source = draft.add_tensor(type, extents, ir::Role::Input);
  draft.kinds.insert(continues ? "previous" : "unwritten");
  (continues ? statement.previous : statement.unwritten) = source;
}

// The type of the target: of the accumulator, of the values, or one that holds them.
DType target_type(Draft& draft, DType value) {
  const DType accumulator = draft.statement.accumulator;
  if (value == DType::F32 && draft.kind(15, "wider target")) return DType::F64;
  if (value == DType::C32 && draft.kind(15, "wider target")) return DType::C64;
  return draft.chance(50) ? accumulator : value;
}

void add_statement(Draft& draft, bool output) {
  const DType type = random_type(draft);
  auto& statement = draft.statement = {};
  statement.op = random_aggregation(draft, type);
  draft.kinds.insert(std::string(ir::aggregation_name(statement.op)));
  const int outputs = draft.random.pick(std::vector{0, 1, 1, 2, 2, 2, 3, 4});
  const int reductions = statement.op == Aggregation::Assign ? 0 : draft.random.pick(std::vector{0, 1, 1, 1, 2, 2, 3});
  int64_t points = 1;
  for (int i = 0; i < outputs + reductions; ++i) {
    statement.indices.push_back(random_index(draft, points));
    points *= std::max<int64_t>(1, ir::range(statement.indices.back()).extent());
  }
  choose_target(draft, outputs);
  const auto extents = fit_target(draft);
  choose_constraints(draft);
  const int depth = static_cast<int>(draft.between(0, 3));
  const Value value = draft.theme == Theme::Any ? random_value(draft, type, depth) : themed_value(draft, type, depth);
  statement.value = value.expr;
  statement.accumulator = statement.op == Aggregation::Assign ? type : accumulator_type(type);
  const DType target = target_type(draft, type);
  const bool has_source = draft.chance(25);
  if (has_source) choose_source(draft, target, extents, output);
  statement.target = draft.add_tensor(target, extents, output ? ir::Role::Output : ir::Role::Temporary);
  if (const auto from = statement.previous; from && draft.program.tensors[*from].role == ir::Role::InOut) {
    auto& initial = draft.program.tensors[*from];
    if (draft.program.tensors[statement.target].role == ir::Role::Output && initial.name[0] == 't') {
      initial.name = draft.program.tensors[statement.target].name;
      initial.storage = draft.program.tensors[statement.target].storage;
    }
  }
  const bool rounds = statement.op == Aggregation::Sum || statement.op == Aggregation::Product;
  const auto source = statement.previous ? statement.previous : statement.unwritten;
  draft.exact[statement.target] =
      value.exact && (!rounds || (!is_float(type) && !is_complex(type))) && (!source || draft.exact[*source]);
  // As front ends do.
  if (draft.chance(70)) statement = ir::leave_out_guarded_terms(std::move(statement));
  draft.program.statements.push_back(statement);
}

}  // namespace

std::optional<RandomProgram> random_program(uint64_t seed, Theme theme) {
  Draft draft(seed, theme);
  draft.program.name = "random";
  const int statements = draft.random.pick(std::vector{1, 1, 1, 2, 2, 3, 4});
  for (int s = 0; s < statements; ++s) add_statement(draft, s + 1 == statements || draft.chance(30));
  if (!ir::validate(draft.program)) return std::nullopt;
  const auto bound = ir::bind(draft.program, {});
  if (!bound) return std::nullopt;
  return RandomProgram{ir::canonicalize(*bound), draft.kinds};
}

}  // namespace tile_tune::test
