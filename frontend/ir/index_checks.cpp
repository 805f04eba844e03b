#include "frontend/ir/index_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/rewrite.h"
#include "frontend/ir/subscript_values.h"

namespace tile_tune::ir {
namespace {

ExprPtr call(DType type, Op op, std::vector<ExprPtr> arguments) {
  return make_expr(type, Call{op, std::move(arguments)});
}

ExprPtr number(DType type, int64_t value) { return make_expr(type, Literal{value}); }

bool has_reads(const Expr& expr) {
  bool found = false;
  for_each_read(expr, [&](const Read&) { found = true; });
  return found;
}

bool is_known_inside(const Statement& statement, const Expr& index, const Path& path, int64_t size) {
  if (has_reads(index)) return false;
  const auto values = values_by_points(statement, relations_of(statement), index, formula_of(path, &statement));
  return values && values->lo >= 0 && values->hi < size;
}

/// Of one statement.
std::vector<IndexCheck> checks_of(const Program& program, int number) {
  const auto& statement = program.statements[number];
  std::vector<IndexCheck> checks;
  std::set<std::tuple<int, size_t, std::string>> seen;
  for_each_read_on_path(*statement.value, [&](const Read& read, const Path& path) {
    for (size_t d = 0; d < read.subscripts.size(); ++d) {
      const auto* index = std::get_if<ExprPtr>(&read.subscripts[d]);
      if (!index || is_known_inside(statement, **index, path, extent(program.tensors[read.tensor], d))) continue;
      std::string text = to_text(program, statement, **index);
      for (const auto& [condition, holds] : path)
        text += (holds ? " if " : " unless ") + to_text(program, statement, *condition);
      if (seen.emplace(read.tensor, d, std::move(text)).second)
        checks.push_back({number, read.tensor, d, *index, path});
    }
  });
  return checks;
}

bool visits_nothing(const Statement& statement) {
  return writes_nothing(statement) || std::any_of(statement.indices.begin(), statement.indices.end(),
                                                  [](const Index& index) { return range(index).extent() == 0; });
}

/// By index: the expressions use it, or constraints tie it to one that they use.
std::vector<bool> needed_indices(const Statement& statement, const IndexCheck& check) {
  std::vector<bool> needed(statement.indices.size());
  for (const int index : indices_of(*check.index)) needed[index] = true;
  for (const auto& branch : check.path)
    for (const int index : indices_of(*branch.condition)) needed[index] = true;
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& constraint : statement.constraints) {
      const auto& terms = constraint.expr.terms;
      if (std::none_of(terms.begin(), terms.end(), [&](const auto& term) { return needed[term.first]; })) continue;
      for (const auto& term : terms) {
        grew |= !needed[term.first];
        needed[term.first] = true;
      }
    }
  }
  return needed;
}

/// The statement with some of its indices, and the constraints on these alone.
Statement restricted(const Statement& statement, const std::vector<bool>& kept) {
  std::vector<int> numbers(kept.size(), -1);
  Statement result;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    numbers[i] = static_cast<int>(result.indices.size());
    result.indices.push_back(statement.indices[i]);
  }
  for (const auto& constraint : statement.constraints) {
    const auto& terms = constraint.expr.terms;
    if (!std::all_of(terms.begin(), terms.end(), [&](const auto& term) { return kept[term.first]; })) continue;
    result.constraints.push_back(constraint);
    for (auto& term : result.constraints.back().expr.terms) term.first = numbers[term.first];
  }
  result.value = number(DType::U8, 0);
  result.place = statement.place;
  return result;
}

/// Over the indices that `restricted` leaves; the order of indices stays, and so terms stay sorted.
ExprPtr renumbered(const Expr& expr, const std::vector<bool>& kept) {
  std::vector<int> number(kept.size());
  for (size_t i = 0, next = 0; i < kept.size(); ++i) number[i] = static_cast<int>(kept[i] ? next++ : next);
  return rewrite(expr, {[&](AffineExpr& affine) {
                          for (auto& term : affine.terms) term.first = number[term.first];
                        },
                        [&](Expr& node) {
                          if (auto* value = std::get_if<IndexValue>(&node.node)) value->index = number[value->index];
                        }});
}

/// False if constraints that the check's expressions have no part in leave no assignment; where that is too much to
/// find out, their indices become needed.
bool others_leave_some(const Program& program, const Statement& statement, std::vector<bool>& needed) {
  std::vector<bool> others(needed.size());
  for (size_t i = 0; i < needed.size(); ++i) others[i] = !needed[i];
  const auto count = domain_size(program, restricted(statement, others));
  if (!count) needed.assign(needed.size(), true);
  return !count || *count > 0;
}

/// Narrower indices are compared as int32, which holds every extent.
DType compared_type(DType type) { return dtype_size(type) < 4 ? DType::I32 : type; }

/// 1 if the index is outside, else 0. As wide as the index, so that a vector of it fills a register, too.
ExprPtr offence(const Program& program, const IndexCheck& check, ExprPtr index) {
  const DType type = compared_type(index->type);
  if (index->type != type) index = make_expr(type, Cast{index});
  const SizeExpr& extent = program.tensors[check.tensor].extents[check.dimension];
  ExprPtr outside = call(DType::Bool, Op::Ge, {index, make_expr(type, SizeValue{extent})});
  if (is_signed(type))
    outside = call(DType::Bool, Op::Or, {call(DType::Bool, Op::Lt, {index, number(type, 0)}), outside});
  const DType flag = dtype_size(type) == 8 ? DType::U64 : DType::U32;
  return call(flag, Op::Select, {outside, number(flag, 1), number(flag, 0)});
}

}  // namespace

std::vector<IndexCheck> index_checks(const Program& program) {
  std::vector<IndexCheck> checks;
  for (size_t s = 0; s < program.statements.size(); ++s) {
    const auto& statement = program.statements[s];
    if (visits_nothing(statement)) continue;
    for (auto& check : checks_of(program, static_cast<int>(s))) {
      auto needed = needed_indices(statement, check);
      if (others_leave_some(program, statement, needed)) checks.push_back(std::move(check));
    }
  }
  return checks;
}

std::string to_text(const Program& program, const IndexCheck& check) {
  return fmt::format("{} of {}", to_text(program, program.statements[check.statement], *check.index),
                     program.tensors[check.tensor].name);
}

Statement statement_for(const Program& program, const IndexCheck& check, int target,
                        const std::function<ExprPtr(const ExprPtr& index)>& value) {
  const auto& statement = program.statements[check.statement];
  auto needed = needed_indices(statement, check);
  others_leave_some(program, statement, needed);
  Statement result = restricted(statement, needed);
  result.target = target;
  result.value = value(renumbered(*check.index, needed));
  const DType type = result.accumulator = result.value->type;
  for (auto branch = check.path.rbegin(); branch != check.path.rend(); ++branch) {
    const ExprPtr condition = renumbered(*branch->condition, needed), unused = number(type, 0);
    result.value = call(type, Op::Select,
                        {condition, branch->holds ? result.value : unused, branch->holds ? unused : result.value});
  }
  // A sum of ones may wrap to 0 in 32 bits; of 64 bits vectors have no maximum before AVX-512.
  result.op = type == DType::U64 ? Aggregation::Sum : Aggregation::Max;
  return result;
}

namespace {

std::string unused_name(const Program& program) {
  std::string name = fmt::format("index_check{}", program.tensors.size());
  while (std::any_of(program.tensors.begin(), program.tensors.end(),
                     [&](const Tensor& tensor) { return tensor.name == name; }))
    name += "_";
  return name;
}

}  // namespace

Program with_index_checks(const Program& program) {
  Program result = program;
  for (const auto& check : index_checks(program)) {
    const int target = static_cast<int>(result.tensors.size());
    auto statement =
        statement_for(program, check, target, [&](const ExprPtr& index) { return offence(program, check, index); });
    Tensor flag;
    flag.name = unused_name(result);
    flag.type = statement.accumulator;
    flag.role = Role::Output;
    result.tensors.push_back(std::move(flag));
    result.outputs.push_back(target);
    result.statements.push_back(std::move(statement));
  }
  return result;
}

}  // namespace tile_tune::ir
