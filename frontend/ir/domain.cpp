#include "frontend/ir/domain.h"

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>
#include <algorithm>
#include <memory>
#include <numeric>

#include "frontend/ir/describe.h"

namespace tile_tune::ir {
namespace {

// Under a second on a 3 GHz core (measured: 50 million take 7 to 8.5 s). Counting takes about 90 operations a
// row, so this is 55,000 rows; a triangle of 10,000 x 10,000 takes 0.03 s, one of 300^3 points 0.11 s.
constexpr unsigned long kMaxIslOperations = 5'000'000;

struct Interval {
  int64_t lo, hi;  // both inclusive
};

// What restricts a domain beyond its ranges: expr is an integer and, with a bound, 0 <= expr < bound.
struct Relation {
  AffineExpr expr;
  std::optional<int64_t> bound;
};

int64_t value_of(const SizeExpr& bound_expr) { return bound_expr.constant().value(); }

bool is_empty(const Range& range) { return range.hi <= range.lo; }

bool has_empty_range(const Statement& statement) {
  return std::any_of(statement.indices.begin(), statement.indices.end(),
                     [](const Index& index) { return is_empty(range(index)); });
}

// Values the numerator takes over the box of the ranges, none empty. Exact: an affine expression attains its
// extremes at corners. nullopt where they exceed 64 bits.
std::optional<Interval> numerator_over_box(const Statement& statement, const AffineExpr& expr) {
  Interval sum{value_of(expr.constant), value_of(expr.constant)};
  for (const auto& [index, coefficient] : expr.terms) {
    const Range r = range(statement.indices[index]);
    int64_t first, last;
    if (__builtin_mul_overflow(coefficient, r.lo, &first) || __builtin_mul_overflow(coefficient, r.hi - 1, &last) ||
        __builtin_add_overflow(sum.lo, std::min(first, last), &sum.lo) ||
        __builtin_add_overflow(sum.hi, std::max(first, last), &sum.hi))
      return std::nullopt;
  }
  return sum;
}

// The integers among numerator / denominator.
Interval divide(const Interval& numerator, int64_t denominator) {
  const auto floor = [&](int64_t a) { return a / denominator - (a % denominator < 0 ? 1 : 0); };
  return {floor(numerator.lo) + (numerator.lo % denominator != 0 ? 1 : 0), floor(numerator.hi)};
}

template <typename Visit>  // visit(tensor number, dimension, affine subscript) -> Result<void>
Result<void> for_each_access(const Statement& statement, const Visit& visit) {
  for (size_t d = 0; d < statement.subscripts.size(); ++d)
    TILE_TUNE_CHECK(visit(statement.target, d, statement.subscripts[d]));
  Result<void> first_failure;
  for_each_read(*statement.value, [&](const Read& read) {
    for (size_t d = 0; d < read.subscripts.size() && first_failure; ++d)
      if (const auto* affine = std::get_if<AffineExpr>(&read.subscripts[d]))
        first_failure = visit(read.tensor, d, *affine);
  });
  return first_failure;
}

// All relations but those the ranges imply; for a plain box none is left. No range may be empty.
std::vector<Relation> relations_of(const Statement& statement) {
  std::vector<Relation> relations;
  for (const auto& constraint : statement.constraints) {
    const int64_t bound = value_of(constraint.bound);
    const auto values = numerator_over_box(statement, constraint.expr);
    const bool implied = constraint.expr.denominator == 1 && values && values->lo >= 0 && values->hi < bound;
    if (!implied) relations.push_back({constraint.expr, bound});
  }
  (void)for_each_access(statement, [&](int, size_t, const AffineExpr& subscript) -> Result<void> {
    if (subscript.denominator != 1) relations.push_back({subscript, std::nullopt});
    return {};
  });
  return relations;
}

std::string isl_text(const AffineExpr& numerator) {
  std::string text = std::to_string(value_of(numerator.constant));
  for (const auto& [index, coefficient] : numerator.terms) text += fmt::format(" + {}*i{}", coefficient, index);
  return text;
}

std::string isl_tuple(const std::vector<int>& members) {
  std::string text;
  for (const int member : members) text += fmt::format("{}i{}", text.empty() ? "" : ", ", member);
  return fmt::format("[{}]", text);
}

// The points of the indices `members` inside their ranges for which `relations`, over members only, hold.
std::string isl_set_text(const Statement& statement, const std::vector<int>& members,
                         const std::vector<Relation>& relations) {
  std::string condition = "0 = 0";
  for (const int member : members) {
    const Range r = range(statement.indices[member]);
    condition += fmt::format(" and {} <= i{} < {}", r.lo, member, r.hi);
  }
  for (const auto& [expr, bound] : relations) {
    const std::string limits = bound ? fmt::format(" and 0 <= e < {}", *bound) : "";
    condition += fmt::format(" and (exists e : {} = {}*e{})", isl_text(expr), expr.denominator, limits);
  }
  return fmt::format("{{ {} : {} }}", isl_tuple(members), condition);
}

template <auto free>
struct IslFree {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using IslVal = std::unique_ptr<isl_val, IslFree<isl_val_free>>;
using IslAff = std::unique_ptr<isl_aff, IslFree<isl_aff_free>>;

// A set of integer points in a context of its own, whose operations are limited.
class IntegerSet {
 public:
  IntegerSet(const Statement& statement, std::vector<int> members, const std::vector<Relation>& relations)
      : members_(std::move(members)), context_(isl_ctx_alloc()) {
    isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(context_.get(), kMaxIslOperations);
    set_.reset(isl_set_read_from_str(context_.get(), isl_set_text(statement, members_, relations).c_str()));
  }

  Result<double> count() const {
    const IslVal number(isl_set_count_val(set_.get()));
    TILE_TUNE_CHECK(status(number != nullptr));
    return isl_val_get_d(number.get());
  }

  Result<bool> is_empty() const {
    const isl_bool empty = isl_set_is_empty(set_.get());
    TILE_TUNE_CHECK(status(empty != isl_bool_error));
    return empty == isl_bool_true;
  }

  /// Least and greatest value of the numerator over the set, which is not empty.
  Result<Interval> numerator_bounds(const AffineExpr& expr) const {
    const auto text = fmt::format("{{ {} -> [{}] }}", isl_tuple(members_), isl_text(expr));
    const IslAff aff(isl_aff_read_from_str(context_.get(), text.c_str()));
    const IslVal lo(isl_set_min_val(set_.get(), aff.get())), hi(isl_set_max_val(set_.get(), aff.get()));
    const Interval interval{isl_val_get_num_si(lo.get()), isl_val_get_num_si(hi.get())};
    TILE_TUNE_CHECK(status(lo && hi && isl_val_is_int(lo.get()) && isl_val_is_int(hi.get())));
    return interval;
  }

 private:
  // isl can return a partial result after it has hit the limit, so the context's error decides, too.
  Result<void> status(bool succeeded) const {
    const isl_error error = isl_ctx_last_error(context_.get());
    if (succeeded && error == isl_error_none) return {};
    if (error != isl_error_quota)
      return fail(ErrorClass::Mismatch, "size-overflow", "values of subscripts or constraints exceed 64 bits");
    return failure("domain-too-complex", "the set of valid index values is too complex to analyse",
                   "split the statement, or use fewer indices in one constraint");
  }

  std::vector<int> members_;
  std::unique_ptr<isl_ctx, IslFree<isl_ctx_free>> context_;
  std::unique_ptr<isl_set, IslFree<isl_set_free>> set_;
};

Diagnostic at_statement(Diagnostic diagnostic, const Statement& statement) {
  if (!diagnostic.place) diagnostic.place = statement.place;
  return diagnostic;
}

std::vector<int> all_indices(const Statement& statement) {
  std::vector<int> numbers(statement.indices.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Groups of indices that relations tie together, with these relations; indices in no relation are left out.
struct Group {
  std::vector<int> members;
  std::vector<Relation> relations;
};
std::vector<Group> tied_groups(const std::vector<Relation>& relations) {
  std::vector<Group> groups;
  for (const auto& relation : relations) {
    Group merged{{}, {relation}};
    for (const auto& term : relation.expr.terms) merged.members.push_back(term.first);
    const auto meets = [&](const Group& group) {
      return std::any_of(group.members.begin(), group.members.end(), [&](int member) {
        return std::find(merged.members.begin(), merged.members.end(), member) != merged.members.end();
      });
    };
    // Groups are disjoint, so what meets the relation's own indices is all that it ties together.
    const auto met = std::stable_partition(groups.begin(), groups.end(), [&](const Group& g) { return !meets(g); });
    for (auto group = met; group != groups.end(); ++group) {
      merged.members.insert(merged.members.end(), group->members.begin(), group->members.end());
      merged.relations.insert(merged.relations.end(), group->relations.begin(), group->relations.end());
    }
    groups.erase(met, groups.end());
    std::sort(merged.members.begin(), merged.members.end());
    merged.members.erase(std::unique(merged.members.begin(), merged.members.end()), merged.members.end());
    groups.push_back(std::move(merged));
  }
  return groups;
}

// The statement's whole domain as integer set, made when first asked for: boxes never need it.
class Domain {
 public:
  explicit Domain(const Statement& statement) : statement_(statement), relations_(relations_of(statement)) {}

  /// Values the subscript takes; nullopt where the domain is empty.
  Result<std::optional<Interval>> values(const AffineExpr& expr) {
    const auto over_box = numerator_over_box(statement_, expr);
    if (over_box && relations_.empty()) return divide(*over_box, expr.denominator);
    TILE_TUNE_CHECK(make_set());
    if (empty_) return std::nullopt;
    TILE_TUNE_TRY(numerator, set_->numerator_bounds(expr));
    return divide(numerator, expr.denominator);
  }

  /// True if the ranges alone keep the subscript in [0, extent).
  bool inside_by_ranges(const AffineExpr& expr, int64_t extent) const {
    const auto over_box = numerator_over_box(statement_, expr);
    if (!over_box) return false;
    const Interval values = divide(*over_box, expr.denominator);
    return values.lo >= 0 && values.hi < extent;
  }

 private:
  Result<void> make_set() {
    if (set_) return {};
    set_.emplace(statement_, all_indices(statement_), relations_);
    TILE_TUNE_TRY(empty, set_->is_empty());
    empty_ = empty;
    return {};
  }

  const Statement& statement_;
  std::vector<Relation> relations_;
  std::optional<IntegerSet> set_;
  bool empty_ = false;
};

std::string ranges_text(const Statement& statement, const AffineExpr& expr) {
  std::string text;
  for (const auto& term : expr.terms) {
    const Index& index = statement.indices[term.first];
    text += fmt::format("{}{} in [{}, {})", text.empty() ? "" : ", ", index.name, range(index).lo, range(index).hi);
  }
  return text;
}

Result<void> check_accesses(const Program& program, const Statement& statement) {
  Domain domain(statement);
  return for_each_access(statement, [&](int number, size_t d, const AffineExpr& subscript) -> Result<void> {
    const Tensor& tensor = program.tensors[number];
    const int64_t size = extent(tensor, d);
    if (domain.inside_by_ranges(subscript, size)) return {};
    TILE_TUNE_TRY(values, domain.values(subscript));
    if (!values || (values->lo >= 0 && values->hi < size)) return {};
    const auto span = values->lo == values->hi ? fmt::format("is {}", values->lo)
                                               : fmt::format("runs from {} to {}", values->lo, values->hi);
    return fail(ErrorClass::Mismatch, "out-of-bounds",
                fmt::format("subscript {} of {} {}, but dimension {} of {} has extent {}",
                            to_text(statement, subscript), tensor.name, span, d, tensor.name, size),
                ranges_text(statement, subscript));
  });
}

Result<void> check_ranges(const Statement& statement) {
  for (const auto& index : statement.indices) {
    const Range r = range(index);
    if (!is_empty(r)) continue;
    return fail(ErrorClass::Mismatch, "empty-range",
                fmt::format("the range [{}, {}) of {} is empty for these sizes", r.lo, r.hi, index.name),
                index.reason.empty() ? "" : fmt::format("it is bounded by {}", index.reason));
  }
  return {};
}

}  // namespace

Result<double> domain_size(const Program&, const Statement& statement) {
  if (has_empty_range(statement)) return 0.0;
  // Only indices that relations tie together need an integer set; the others multiply.
  double size = 1;
  std::vector<bool> counted(statement.indices.size());
  for (const auto& group : tied_groups(relations_of(statement))) {
    for (const int member : group.members) counted[member] = true;
    const auto points = IntegerSet(statement, group.members, group.relations).count();
    if (!points) return tl::unexpected(at_statement(points.error(), statement));
    size *= *points;
  }
  for (size_t i = 0; i < counted.size(); ++i) {
    const Range r = range(statement.indices[i]);
    if (!counted[i]) size *= static_cast<double>(r.hi) - static_cast<double>(r.lo);
  }
  return size;
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
    if (auto checked = check_accesses(program, statement); !checked)
      return tl::unexpected(at_statement(std::move(checked.error()), statement));
  }
  return {};
}

}  // namespace tile_tune::ir
