#include <algorithm>
#include <array>
#include <optional>

#include "tests/property/programs/draft.h"

namespace tile_tune::test {
namespace {

using ir::AffineExpr;
using ir::ExprPtr;

// Larger inputs say nothing more, but take the reference longer.
constexpr int64_t kMaxElements = 200'000;

ExprPtr index_value(int index) { return ir::make_expr(DType::I64, ir::IndexValue{index}); }
ExprPtr literal(int64_t value) { return ir::make_expr(DType::I64, ir::Literal{value}); }
ExprPtr call(ir::Op op, ExprPtr a, ExprPtr b) {
  return ir::make_expr(DType::I64, ir::Call{op, {std::move(a), std::move(b)}});
}

int random_index(Draft& draft) { return static_cast<int>(draft.random.below(draft.statement.indices.size())); }

AffineExpr sum(AffineExpr a, int index, int64_t coefficient) {
  const auto at = std::find_if(a.terms.begin(), a.terms.end(), [&](const auto& term) { return term.first >= index; });
  if (at == a.terms.end() || at->first != index)
    a.terms.insert(at, {index, coefficient});
  else if ((at->second += coefficient) == 0)
    a.terms.erase(at);
  return a;
}

// A subscript without its constant.
AffineExpr random_affine(Draft& draft) {
  if (draft.statement.indices.empty() || draft.kind(4, "constant subscript")) return {};
  const int index = random_index(draft);
  const AffineExpr plain = AffineExpr::index(index);
  if (draft.kind(8, "strided read")) return {{{index, draft.between(2, 3)}}, 0, 1};
  if (draft.kind(6, "reversed read")) return {{{index, -1}}, 0, 1};
  if (draft.kind(14, "window read")) return sum({{{index, draft.between(1, 2)}}, 0, 1}, random_index(draft), 1);
  if (draft.kind(5, "difference read")) return sum(plain, random_index(draft), -1);
  if (draft.kind(4, "quotient read")) return {{{index, 1}}, 0, draft.between(2, 3)};
  return plain;
}

// An integer expression whose value is the subscript of a dimension this large.
ExprPtr random_gather(Draft& draft, int64_t extent) {
  ExprPtr value;
  if (!draft.statement.indices.empty() && draft.kind(50, "computed subscript")) {
    value = index_value(random_index(draft));
    if (draft.chance(50)) value = call(ir::Op::Mul, value, literal(draft.between(-3, 3)));
    if (draft.chance(50)) value = call(ir::Op::Div, value, literal(draft.between(2, 4)));
  } else {
    draft.kinds.insert("gather");
    const DType type = draft.chance(50) ? DType::I32 : DType::U8;
    value = ir::make_expr(DType::I64, ir::Cast{random_read(draft, type)});
    if (draft.chance(50) && !draft.statement.indices.empty())
      value = call(ir::Op::Add, value, index_value(random_index(draft)));
  }
  return call(ir::Op::Mod, value, literal(extent));
}

ExprPtr read_new(Draft& draft, DType type) {
  std::vector<ir::SizeExpr> extents;
  std::vector<ir::Subscript> subscripts;
  int64_t elements = 1;
  const bool gathers = draft.theme == Theme::Gathers || draft.chance(6);
  const int64_t rank = draft.random.pick(std::vector<int64_t>{0, 1, 1, 2, 2, 2, 3, 4});
  for (int64_t d = 0; d < rank; ++d) {
    if (gathers && d == 0 && type != DType::U8 && type != DType::I32) {
      extents.push_back(draft.between(1, 9));
      subscripts.push_back(random_gather(draft, extents.back().constant().value()));
      continue;
    }
    AffineExpr subscript = random_affine(draft);
    const Box box = box_of(draft.statement, subscript);
    const int64_t slack = draft.chance(20) ? draft.between(1, 3) : 0;
    const bool shifted = draft.kind(15, "shifted read");
    subscript.constant = -box.lo + (shifted ? draft.between(0, 3) : 0);
    int64_t extent = (box.hi + subscript.constant.constant().value()) / subscript.denominator + 1 + slack;
    const bool is_empty = std::any_of(subscript.terms.begin(), subscript.terms.end(), [&](const auto& term) {
      return ir::range(draft.statement.indices[term.first]).extent() == 0;
    });
    if (is_empty) extent = 0;
    if (extent > 2 && draft.kind(4, "read saved by a constraint")) {
      extent -= draft.between(1, 2);
      draft.statement.constraints.push_back({subscript, extent});
    }
    if (elements * extent > kMaxElements) break;
    elements *= std::max<int64_t>(extent, 1);
    extents.push_back(extent);
    subscripts.push_back(subscript);
  }
  const int tensor = draft.add_tensor(type, extents, ir::Role::Input);
  return ir::make_expr(type, ir::Read{tensor, subscripts});
}

ExprPtr truth(ir::Op op, std::vector<ExprPtr> arguments) {
  return ir::make_expr(DType::Bool, ir::Call{op, std::move(arguments)});
}

ExprPtr value_of(const AffineExpr& affine) {
  ExprPtr sum = literal(affine.constant.constant().value());
  for (const auto& [index, coefficient] : affine.terms)
    sum = call(ir::Op::Add, sum,
               coefficient == 1 ? index_value(index) : call(ir::Op::Mul, literal(coefficient), index_value(index)));
  return sum;
}

// 0 <= subscript, or subscript < extent, in one of the ways to write it; with `holds` false its contrary.
ExprPtr inside(Draft& draft, const AffineExpr& subscript, std::optional<int64_t> extent, bool holds) {
  const ExprPtr value = value_of(subscript);
  const int64_t end = extent.value_or(0);
  if (draft.chance(25)) return truth(ir::Op::Not, {inside(draft, subscript, extent, !holds)});
  if (draft.chance(50))
    return extent ? truth(holds ? ir::Op::Lt : ir::Op::Ge, {value, literal(end)})
                  : truth(holds ? ir::Op::Ge : ir::Op::Lt, {value, literal(0)});
  return extent ? truth(holds ? ir::Op::Ge : ir::Op::Lt, {literal(end - 1), value})
                : truth(holds ? ir::Op::Lt : ir::Op::Ge, {literal(-1), value});
}

// A subscript that stays inside a dimension whatever the indices are.
ir::Subscript fitting_subscript(Draft& draft, int64_t extent) {
  std::vector<int> fitting;
  for (int i = 0; i < static_cast<int>(draft.statement.indices.size()); ++i) {
    const auto range = ir::range(draft.statement.indices[i]);
    if (range.lo >= 0 && range.hi <= extent) fitting.push_back(i);
  }
  if (!fitting.empty() && !draft.chance(10)) {
    const int index = draft.random.pick(fitting);
    const auto range = ir::range(draft.statement.indices[index]);
    if (draft.kind(10, "reversed read")) return AffineExpr{{{index, -1}}, extent - 1, 1};
    const int64_t shift = draft.chance(20) ? draft.between(0, extent - range.hi) : 0;
    return AffineExpr{{{index, 1}}, shift, 1};
  }
  if (draft.statement.indices.empty() || draft.chance(20)) return AffineExpr{{}, draft.between(0, extent - 1), 1};
  if (draft.chance(50)) return random_gather(draft, extent);
  draft.kinds.insert("read saved by a constraint");
  const auto subscript = AffineExpr::index(random_index(draft));
  draft.statement.constraints.push_back({subscript, extent});
  return subscript;
}

}  // namespace

ir::ExprPtr random_new_read(Draft& draft, DType type) { return read_new(draft, type); }

ir::ExprPtr random_read(Draft& draft, DType type) {
  std::vector<int> known, computed;
  for (int t = 0; t < static_cast<int>(draft.program.tensors.size()); ++t) {
    const auto& tensor = draft.program.tensors[t];
    const bool empty = ir::element_count(tensor) == 0;
    if (tensor.type != type || empty) continue;
    (tensor.role == ir::Role::Input || tensor.role == ir::Role::InOut ? known : computed).push_back(t);
  }
  if (!computed.empty() && draft.kind(60, "read of an earlier result"))
    known = computed;
  else if (known.empty() || draft.chance(70))
    return read_new(draft, type);
  const int tensor = draft.random.pick(known);
  std::vector<ir::Subscript> subscripts;
  for (const int64_t extent : ir::shape(draft.program.tensors[tensor]))
    subscripts.push_back(fitting_subscript(draft, extent));
  return ir::make_expr(type, ir::Read{tensor, subscripts});
}

GuardedRead random_guarded_read(Draft& draft, DType type) {
  draft.kinds.insert("guarded read");
  const bool holds = draft.chance(60);
  std::vector<ir::SizeExpr> extents;
  std::vector<ir::Subscript> subscripts;
  ExprPtr condition;
  const auto require = [&](const ExprPtr& more) {
    condition = condition ? truth(holds ? ir::Op::And : ir::Op::Or, {condition, more}) : more;
  };
  for (int64_t d = draft.between(1, 2); d > 0; --d) {
    AffineExpr subscript = random_affine(draft);
    subscript.denominator = 1;
    const Box box = box_of(draft.statement, subscript);
    const int64_t span = std::min<int64_t>(box.hi - box.lo + 1, 300);
    const int64_t extent = draft.between(std::max<int64_t>(1, span - 3), span + 1);
    subscript.constant = -box.lo - draft.between(-1, 3);
    const Box shifted = box_of(draft.statement, subscript);
    if (shifted.lo < 0 || draft.chance(30)) require(inside(draft, subscript, std::nullopt, holds));
    if (shifted.hi >= extent || draft.chance(30)) require(inside(draft, subscript, extent, holds));
    extents.push_back(extent);
    subscripts.push_back(subscript);
  }
  if (!condition || draft.chance(25)) require(random_index_condition(draft, 1));
  const int tensor = draft.add_tensor(type, extents, ir::Role::Input);
  return {condition, holds, ir::make_expr(type, ir::Read{tensor, subscripts})};
}

ir::ExprPtr random_index_condition(Draft& draft, int depth) {
  constexpr std::array kComparisons{ir::Op::Eq, ir::Op::Ne, ir::Op::Lt, ir::Op::Le, ir::Op::Gt, ir::Op::Ge};
  draft.kinds.insert("condition on indices");
  if (depth > 0 && draft.chance(60)) {
    const auto part = [&] { return random_index_condition(draft, depth - 1); };
    if (draft.chance(15)) return truth(ir::Op::Not, {part()});
    if (draft.chance(15)) return truth(ir::Op::Select, {part(), part(), part()});
    return truth(draft.chance(50) ? ir::Op::And : ir::Op::Or, {part(), part()});
  }
  AffineExpr left = random_affine(draft);
  left.denominator = 1;
  const Box box = box_of(draft.statement, left);
  const ExprPtr value = value_of(left);
  return truth(
      kComparisons[draft.random.below(kComparisons.size())],
      {value, draft.chance(80) ? literal(draft.between(box.lo - 1, box.hi + 1)) : value_of(random_affine(draft))});
}

Box box_of(const ir::Statement& statement, const ir::AffineExpr& expr) {
  Box box{expr.constant.constant().value(), expr.constant.constant().value()};
  for (const auto& [index, coefficient] : expr.terms) {
    const auto range = ir::range(statement.indices[index]);
    const int64_t first = coefficient * range.lo,
                  last = coefficient * (range.lo + std::max<int64_t>(range.extent(), 1) - 1);
    box.lo += std::min(first, last);
    box.hi += std::max(first, last);
  }
  return box;
}

int Draft::add_tensor(DType type, std::vector<ir::SizeExpr> extents, ir::Role role) {
  const int number = static_cast<int>(program.tensors.size());
  const std::string prefix = role == ir::Role::Input ? "in" : role == ir::Role::Output ? "out" : "t";
  program.tensors.push_back({prefix + std::to_string(number), type, std::move(extents), role,
                             kind(25, "columns") ? ir::Storage::col() : ir::Storage::row()});
  if (role == ir::Role::Input) program.inputs.push_back(number);
  if (role == ir::Role::Output) program.outputs.push_back(number);
  exact.push_back(role == ir::Role::Input);
  kinds.insert(std::string(dtype_name(type)));
  return number;
}

}  // namespace tile_tune::test
