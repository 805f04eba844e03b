#include "frontend/ir/domain.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "frontend/ir/describe.h"
#include "frontend/ir/gather.h"
#include "frontend/ir/integer_set.h"
#include "frontend/ir/path_condition.h"
#include "frontend/ir/subscript_values.h"

namespace tile_tune::ir {
namespace {

bool has_empty_range(const Statement& statement) {
  return std::any_of(statement.indices.begin(), statement.indices.end(),
                     [](const Index& index) { return range(index).is_empty(); });
}

Diagnostic at_statement(Diagnostic diagnostic, const Statement& statement) {
  if (!diagnostic.place) diagnostic.place = statement.place;
  return diagnostic;
}

// Says nothing, but ties the indices of the expression and the formula together.
Relation tie(const AffineExpr& expr, const Formula& where) {
  std::vector<int> indices;
  for (const auto& term : expr.terms) indices.push_back(term.first);
  const auto of_formula = indices_of(where);
  indices.insert(indices.end(), of_formula.begin(), of_formula.end());
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  Relation relation{{}, std::nullopt};
  for (const int index : indices) relation.expr.terms.emplace_back(index, 1);
  return relation;
}

// Values the subscript takes over the points of the domain where the formula holds; nullopt where there are none. Only
// the indices that relations tie to those of the subscript and the formula need an integer set.
Result<std::optional<Interval>> values_of(Operations& operations, const Statement& statement,
                                          const std::vector<Relation>& relations, const AffineExpr& expr,
                                          const Formula& where = Formula::truth()) {
  const Box box = box_of(statement);
  const auto over_box = numerator_over_box(box, expr);
  if (over_box && relations.empty() && where.is_true()) return divide(*over_box, expr.denominator);
  auto tied = relations;
  tied.push_back(tie(expr, where));
  const auto groups = tied_groups(tied);
  // Of each group but that of the subscript it only matters whether it has points at all.
  std::optional<Interval> values;
  for (const auto& [members, of_group] : groups) {
    const auto& terms = tied.back().expr.terms;
    const bool asked = std::all_of(terms.begin(), terms.end(), [&, &group = members](const auto& term) {
      return std::find(group.begin(), group.end(), term.first) != group.end();
    });
    const IntegerSet set(operations, members, of_group, &box, asked ? where : Formula::truth());
    TILE_TUNE_TRY(empty, set.is_empty());
    if (empty) return std::nullopt;
    if (!asked || values) continue;
    TILE_TUNE_TRY(numerator, set.numerator_bounds(expr));
    values = divide(numerator, expr.denominator);
  }
  return values;
}

std::vector<int> indices_of(const AffineExpr& expr) {
  std::vector<int> indices;
  for (const auto& term : expr.terms) indices.push_back(term.first);
  return indices;
}

std::string ranges_text(const Statement& statement, const std::vector<int>& indices) {
  std::string text;
  for (const int number : indices) {
    const Index& index = statement.indices[number];
    text += fmt::format("{}{} in [{}, {})", text.empty() ? "" : ", ", index.name, range(index).lo, range(index).hi);
  }
  return text;
}

tl::unexpected<Diagnostic> out_of_bounds(const Tensor& tensor, size_t d, const std::string& subscript,
                                         const Interval& values, std::string note, bool guarded) {
  const auto span = values.lo == values.hi ? fmt::format("is {}", values.lo)
                                           : fmt::format("runs from {} to {}", values.lo, values.hi);
  return fail(ErrorClass::Mismatch, "out-of-bounds",
              fmt::format("subscript {} of {} {}{}, but dimension {} of {} has extent {}", subscript, tensor.name, span,
                          guarded ? " where its condition holds" : "", d, tensor.name, extent(tensor, d)),
              std::move(note));
}

// A condition that the indices do not decide protects no read.
std::string undecided_text(const Statement& statement, const Path& path) {
  const bool decided = std::all_of(path.begin(), path.end(), [&](const Branch& branch) {
    return formula_of(*branch.condition, branch.holds, &statement).has_value();
  });
  return decided ? ""
                 : "; its condition protects no read: only comparisons of sums and multiples of indices and sizes "
                   "do, not data, products of indices or '%'";
}

// Subscripts that are not affine but made of indices and literals; what cannot be told here is left to run time.
Result<void> check_other_subscripts(const Program& program, const Statement& statement) {
  const auto relations = relations_of(statement);
  Result<void> checked;
  for_each_read_on_path(*statement.value, [&](const Read& read, const Path& path) {
    const Tensor& tensor = program.tensors[read.tensor];
    for (size_t d = 0; d < read.subscripts.size() && checked; ++d) {
      const auto* subscript = std::get_if<ExprPtr>(&read.subscripts[d]);
      if (!subscript) continue;
      const auto where = formula_of(path, &statement);
      const auto values = values_by_points(statement, relations, **subscript, where);
      if (!values || (values->lo >= 0 && values->hi < extent(tensor, d))) continue;
      checked = out_of_bounds(tensor, d, to_text(program, statement, **subscript), *values,
                              ranges_text(statement, indices_of(**subscript)) + undecided_text(statement, path),
                              !where.is_true());
    }
  });
  return checked;
}

// That one affine subscript stays inside its tensor wherever its path is taken.
Result<void> check_access(const Program& program, const Statement& statement, const std::vector<Relation>& relations,
                          Operations& operations, const AffineAccess& access, const Path& path) {
  const auto& [number, d, subscript, read] = access;
  const Tensor& tensor = program.tensors[number];
  const int64_t size = extent(tensor, d);
  if (inside_over_box(box_of(statement), *subscript, size)) return {};
  const auto where = formula_of(path, &statement);
  Operations own;  // a formula may take many
  TILE_TUNE_TRY(values, values_of(where.is_true() ? operations : own, statement, relations, *subscript, where));
  if (!values || (values->lo >= 0 && values->hi < size)) return {};
  return out_of_bounds(tensor, d, to_text(statement, *subscript), *values,
                       ranges_text(statement, indices_of(*subscript)) + undecided_text(statement, path),
                       !where.is_true());
}

Result<void> check_accesses(const Program& program, const Statement& statement) {
  const auto relations = relations_of(statement);
  Operations operations;
  for (size_t d = 0; d < statement.subscripts.size(); ++d)
    TILE_TUNE_CHECK(check_access(program, statement, relations, operations,
                                 {statement.target, d, &statement.subscripts[d], nullptr}, {}));
  Result<void> checked;
  for_each_read_on_path(*statement.value, [&](const Read& read, const Path& path) {
    for (size_t d = 0; d < read.subscripts.size() && checked; ++d)
      if (const auto* affine = std::get_if<AffineExpr>(&read.subscripts[d]))
        checked = check_access(program, statement, relations, operations, {read.tensor, d, affine, &read}, path);
  });
  TILE_TUNE_CHECK(checked);
  return check_other_subscripts(program, statement);
}

std::string point_text(const Statement& statement, const std::vector<int64_t>& point) {
  std::string text;
  for (size_t i = 0; i < point.size(); ++i)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", statement.indices[i].name, point[i]);
  return text;
}

Result<void> check_collisions(const Program& program, const Statement& statement) {
  if (statement.op != Aggregation::Assign) return {};
  TILE_TUNE_TRY(collision, find_collision(program, statement));
  if (!collision) return {};
  const auto& name = program.tensors[statement.target].name;
  return fail(ErrorClass::Mismatch, "assigned-twice",
              fmt::format("{}({}) is assigned twice: for {} and for {}", name, fmt::join(collision->element, ", "),
                          point_text(statement, collision->first), point_text(statement, collision->second)),
              "'=' gives an element one value: aggregate with another operator, or add a constraint");
}

Result<void> check_statement(const Program& program, const Statement& statement) {
  TILE_TUNE_CHECK(check_accesses(program, statement));
  TILE_TUNE_CHECK(check_collisions(program, statement));
  TILE_TUNE_CHECK(gather_form(program, statement));
  return {};
}

Result<void> check_ranges(const Statement& statement) {
  if (writes_nothing(statement)) return {};
  for (const auto& index : statement.indices) {
    const Range r = range(index);
    if (!r.is_empty()) continue;
    return fail(ErrorClass::Mismatch, "empty-range",
                fmt::format("the range [{}, {}) of {} is empty for these sizes", r.lo, r.hi, index.name),
                index.reason.empty() ? "" : fmt::format("it is bounded by {}", index.reason));
  }
  return {};
}

}  // namespace

Constraint impossible() { return {{{}, -1}, 1}; }

bool writes_nothing(const Statement& statement) {
  return std::any_of(statement.constraints.begin(), statement.constraints.end(), [](const Constraint& constraint) {
    const auto& [expr, bound] = constraint;
    const auto numerator = expr.constant.constant(), limit = bound.constant();
    if (!expr.terms.empty() || !numerator || !limit) return false;
    return *numerator < 0 || *numerator % expr.denominator != 0 || *numerator / expr.denominator >= *limit;
  });
}

bool is_vacuous(const Statement& statement, const Constraint& constraint) {
  return std::any_of(constraint.expr.terms.begin(), constraint.expr.terms.end(),
                     [&](const auto& term) { return range(statement.indices[term.first]).is_empty(); });
}

Result<double> domain_size(const Program&, const Statement& statement) {
  if (has_empty_range(statement)) return 0.0;
  // Only indices that relations tie together need an integer set; the others multiply.
  const Box box = box_of(statement);
  double size = 1;
  Operations operations;
  std::vector<bool> counted(statement.indices.size());
  for (const auto& group : tied_groups(relations_of(statement))) {
    for (const int member : group.members) counted[member] = true;
    const auto points = IntegerSet(operations, group.members, group.relations, &box).count();
    if (!points) return tl::unexpected(at_statement(points.error(), statement));
    size *= *points;
  }
  for (size_t i = 0; i < counted.size(); ++i) {
    if (!counted[i]) size *= static_cast<double>(box[i].hi) - static_cast<double>(box[i].lo);
  }
  return size;
}

Result<Range> value_range(const Statement& statement, const AffineExpr& expr) {
  if (has_empty_range(statement)) return Range{0, 0};
  Operations operations;
  auto values = values_of(operations, statement, relations_of(statement), expr);
  if (!values) return tl::unexpected(at_statement(std::move(values.error()), statement));
  return *values ? Range{(**values).lo, (**values).hi + 1} : Range{0, 0};
}

Result<void> check_domains(const Program& program, bool zero_sized) {
  for (const auto& tensor : program.tensors)
    if (tensor.role == Role::Input || tensor.role == Role::InOut) {
      const auto extents = shape(tensor);
      zero_sized |= std::find(extents.begin(), extents.end(), 0) != extents.end();
    }
  for (const auto& statement : program.statements) {
    if (!zero_sized)
      if (auto checked = check_ranges(statement); !checked)
        return tl::unexpected(at_statement(std::move(checked.error()), statement));
    if (has_empty_range(statement)) continue;
    if (auto checked = check_statement(program, statement); !checked)
      return tl::unexpected(at_statement(std::move(checked.error()), statement));
  }
  return {};
}

bool writes_all(const Program& program, const Statement& statement) {
  if (!is_plain(statement)) return false;
  Box box = box_of(statement);
  if (std::any_of(box.begin(), box.end(), [](const Range& range) { return range.extent() == 0; })) return false;
  const auto relations = relations_of(statement);
  std::vector<int> elements;  // the target's indices
  const Tensor& target = program.tensors[static_cast<size_t>(statement.target)];
  for (size_t d = 0; d < target.extents.size(); ++d) {
    const auto& subscript = statement.subscripts[d];
    const int index = subscript.terms[0].first;
    const int64_t shift = *subscript.constant.constant();
    const Range needed{-shift, extent(target, d) - shift};
    Range& range = box[static_cast<size_t>(index)];
    if (range.lo > needed.lo || range.hi < needed.hi) return false;
    range = needed;
    elements.push_back(index);
  }
  Operations operations;
  for (const auto& [members, of_group] : tied_groups(relations)) {
    std::vector<int> tied;
    for (const int member : members)
      if (std::find(elements.begin(), elements.end(), member) != elements.end()) tied.push_back(member);
    const auto covers = IntegerSet(operations, members, of_group, &box).covers(tied, box);
    if (!covers || !*covers) return false;
  }
  return true;
}

}  // namespace tile_tune::ir
