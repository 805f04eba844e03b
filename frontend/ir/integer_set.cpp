#include "frontend/ir/integer_set.h"

#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include <algorithm>
#include <limits>

namespace tile_tune::ir {
namespace {

// Under a second on a 3 GHz core (measured: 50 million take 7 to 8.5 s). Counting takes about 90 operations a
// row, so this is 55,000 rows; a triangle of 10,000 x 10,000 takes 0.03 s, one of 300^3 points 0.11 s.
constexpr unsigned long kMaxCountOperations = 5'000'000;
// Eight indices tied by dense coefficients of one digit take 0.3 s until here (measured: 1.5 s for 100,000, for what
// they take, they take in longer numbers), and a statement asks for at most five analyses. Programs that people write
// stay below 500.
constexpr unsigned long kMaxBoundOperations = 20'000;

// Operations count alike whatever the length of their numbers, so these are kept short: strides of tensors that fit
// a memory are far below, and products of a few dozen stay within some hundred bits.
constexpr int64_t kMaxCoefficient = int64_t{1} << 31;

int64_t value_of(const SizeExpr& size) { return size.constant().value(); }

template <auto free>
struct IslFree {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using IslVal = std::unique_ptr<isl_val, IslFree<isl_val_free>>;
using IslAff = std::unique_ptr<isl_aff, IslFree<isl_aff_free>>;
using IslPoint = std::unique_ptr<isl_point, IslFree<isl_point_free>>;

bool has_large_coefficient(const AffineExpr& expr) {
  return expr.denominator > kMaxCoefficient || std::any_of(expr.terms.begin(), expr.terms.end(), [](const auto& term) {
           return term.second > kMaxCoefficient || term.second < -kMaxCoefficient;
         });
}

bool has_large_coefficient(const Formula& formula) {
  return has_large_coefficient(formula.expr) ||
         std::any_of(formula.parts.begin(), formula.parts.end(),
                     [](const Formula& part) { return has_large_coefficient(part); });
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

std::string isl_text(const Formula& formula) {
  if (formula.kind == Formula::Kind::NotNegative) return fmt::format("{} >= 0", isl_text(formula.expr));
  const bool all = formula.kind == Formula::Kind::All;
  std::string text = all ? "0 = 0" : "0 = 1";
  for (const auto& part : formula.parts) text += fmt::format(" {} {}", all ? "and" : "or", isl_text(part));
  return fmt::format("({})", text);
}

std::string isl_set_text(const std::vector<int>& members, const std::vector<Relation>& relations, const Box* box,
                         const Formula& where) {
  std::string condition = isl_text(where);
  if (box)
    for (const int member : members)
      condition += fmt::format(" and {} <= i{} < {}", (*box)[member].lo, member, (*box)[member].hi);
  for (const auto& [expr, bound] : relations) {
    if (expr.denominator == 1) {
      if (bound) condition += fmt::format(" and 0 <= {} < {}", isl_text(expr), *bound);
      continue;
    }
    const std::string limits = bound ? fmt::format(" and 0 <= e < {}", *bound) : "";
    condition += fmt::format(" and (exists e : {} = {}*e{})", isl_text(expr), expr.denominator, limits);
  }
  return fmt::format("{{ {} : {} }}", isl_tuple(members), condition);
}

// The values of a lone index that one relation without a denominator allows. In 128 bits nothing overflows.
std::optional<Interval> solve_single(const Relation& relation) {
  if (relation.expr.terms.size() != 1 || relation.expr.denominator != 1 || !relation.bound) return std::nullopt;
  const __int128 a = relation.expr.terms[0].second, c = value_of(relation.expr.constant);
  const auto floor_div = [](__int128 n, __int128 d) { return n / d - (n % d < 0 ? 1 : 0); };  // d > 0
  // 0 <= a*i + c <= bound - 1
  const __int128 low = -c, high = *relation.bound - __int128{1} - c;
  const __int128 lo = a > 0 ? -floor_div(-low, a) : -floor_div(high, -a);
  const __int128 hi = a > 0 ? floor_div(high, a) : floor_div(-low, -a);
  constexpr __int128 least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  return Interval{static_cast<int64_t>(std::clamp(lo, least, most)), static_cast<int64_t>(std::clamp(hi, least, most))};
}

// The range of the only index of a group; nullopt where that takes isl.
std::optional<Interval> solve_single(const Group& group) {
  Interval result{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max() - 1};
  for (const auto& relation : group.relations) {
    const auto values = solve_single(relation);
    if (!values) return std::nullopt;
    result = {std::max(result.lo, values->lo), std::min(result.hi, values->hi)};
  }
  return result;
}

tl::unexpected<Diagnostic> too_large() {
  return fail(ErrorClass::Mismatch, "size-overflow",
              "values of subscripts or constraints exceed 64 bits, or their coefficients 31");
}

}  // namespace

Box box_of(const Statement& statement) {
  Box box;
  for (const auto& index : statement.indices) box.push_back(range(index));
  return box;
}

std::optional<Interval> numerator_over_box(const Box& box, const AffineExpr& expr) {
  Interval sum{value_of(expr.constant), value_of(expr.constant)};
  for (const auto& [index, coefficient] : expr.terms) {
    const Range r = box[index];
    int64_t first, last;
    if (__builtin_mul_overflow(coefficient, r.lo, &first) || __builtin_mul_overflow(coefficient, r.hi - 1, &last) ||
        __builtin_add_overflow(sum.lo, std::min(first, last), &sum.lo) ||
        __builtin_add_overflow(sum.hi, std::max(first, last), &sum.hi))
      return std::nullopt;
  }
  return sum;
}

Interval divide(const Interval& numerator, int64_t denominator) {
  const auto floor = [&](int64_t a) { return a / denominator - (a % denominator < 0 ? 1 : 0); };
  return {floor(numerator.lo) + (numerator.lo % denominator != 0 ? 1 : 0), floor(numerator.hi)};
}

bool inside_over_box(const Box& box, const AffineExpr& expr, int64_t bound) {
  const auto numerator = numerator_over_box(box, expr);
  if (!numerator) return false;
  const Interval values = divide(*numerator, expr.denominator);
  return values.lo >= 0 && values.hi < bound;
}

std::vector<AffineAccess> affine_accesses(const Statement& statement) {
  std::vector<AffineAccess> accesses;
  for (size_t d = 0; d < statement.subscripts.size(); ++d)
    accesses.push_back({statement.target, d, &statement.subscripts[d], nullptr});
  for_each_read(*statement.value, [&](const Read& read) {
    for (size_t d = 0; d < read.subscripts.size(); ++d)
      if (const auto* affine = std::get_if<AffineExpr>(&read.subscripts[d]))
        accesses.push_back({read.tensor, d, affine, &read});
  });
  return accesses;
}

std::vector<Relation> relations_of(const Statement& statement) {
  std::vector<Relation> relations;
  const Box box = box_of(statement);
  for (const auto& constraint : statement.constraints) {
    const int64_t bound = value_of(constraint.bound);
    if (constraint.expr.denominator != 1 || !inside_over_box(box, constraint.expr, bound))
      relations.push_back({constraint.expr, bound});
  }
  for (const auto& access : affine_accesses(statement))
    if (access.subscript->denominator != 1) relations.push_back({*access.subscript, std::nullopt});
  return relations;
}

bool same_expr(const AffineExpr& a, const AffineExpr& b) {
  return a.terms == b.terms && a.denominator == b.denominator && a.constant == b.constant;
}

std::vector<Constraint> needed_constraints(const Box& box, const std::vector<Relation>& relations,
                                           const std::function<bool(const AffineExpr&)>& known_integer) {
  std::vector<Constraint> needed;
  for (const auto& [expr, bound] : relations) {
    if ((expr.denominator == 1 || known_integer(expr)) && inside_over_box(box, expr, *bound)) continue;
    const auto same = std::find_if(needed.begin(), needed.end(),
                                   [&e = expr](const Constraint& other) { return same_expr(other.expr, e); });
    if (same == needed.end())
      needed.push_back({expr, *bound});
    else
      same->bound = SizeExpr::min(same->bound, *bound);
  }
  return needed;
}

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

void Operations::Free::operator()(isl_ctx* context) const { isl_ctx_free(context); }

Operations::Operations() : context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context_.get(), kMaxBoundOperations);
}

void IntegerSet::FreeSet::operator()(isl_set* set) const { isl_set_free(set); }

IntegerSet::IntegerSet(Operations& operations, std::vector<int> members, const std::vector<Relation>& relations,
                       const Box* box, const Formula& where)
    : members_(std::move(members)),
      too_large_(has_large_coefficient(where) ||
                 std::any_of(relations.begin(), relations.end(),
                             [](const Relation& relation) { return has_large_coefficient(relation.expr); })),
      context_(operations.context_.get()) {
  if (!too_large_) set_.reset(isl_set_read_from_str(context_, isl_set_text(members_, relations, box, where).c_str()));
}

Result<double> IntegerSet::count() const {
  isl_ctx_set_max_operations(context_, kMaxCountOperations);
  const IslVal number(isl_set_count_val(set_.get()));
  TILE_TUNE_CHECK(status(number != nullptr));
  return isl_val_get_d(number.get());
}

Result<bool> IntegerSet::is_empty() const {
  const isl_bool empty = isl_set_is_empty(set_.get());
  TILE_TUNE_CHECK(status(empty != isl_bool_error));
  return empty == isl_bool_true;
}

Result<Interval> IntegerSet::numerator_bounds(const AffineExpr& expr) const {
  if (has_large_coefficient(expr)) return too_large();
  const auto text = fmt::format("{{ {} -> [{}] }}", isl_tuple(members_), isl_text(expr));
  const IslAff aff(isl_aff_read_from_str(context_, text.c_str()));
  const IslVal lo(isl_set_min_val(set_.get(), aff.get())), hi(isl_set_max_val(set_.get(), aff.get()));
  const Interval interval{isl_val_get_num_si(lo.get()), isl_val_get_num_si(hi.get())};
  TILE_TUNE_CHECK(status(lo && hi && isl_val_is_int(lo.get()) && isl_val_is_int(hi.get())));
  return interval;
}

Result<bool> IntegerSet::covers(const std::vector<int>& members, const Box& box) const {
  isl_set* shadow = isl_set_copy(set_.get());
  for (size_t i = members_.size(); i-- > 0;)
    if (std::find(members.begin(), members.end(), members_[i]) == members.end())
      shadow = isl_set_project_out(shadow, isl_dim_set, static_cast<unsigned>(i), 1);
  const std::unique_ptr<isl_set, FreeSet> below(shadow),
      whole(isl_set_read_from_str(context_, isl_set_text(members, {}, &box, Formula::truth()).c_str()));
  const isl_bool covers = isl_set_is_subset(whole.get(), below.get());
  TILE_TUNE_CHECK(status(covers != isl_bool_error));
  return covers == isl_bool_true;
}

Result<std::optional<std::vector<int64_t>>> IntegerSet::sample() const {
  const IslPoint point(isl_set_sample_point(isl_set_copy(set_.get())));
  TILE_TUNE_CHECK(status(point != nullptr));
  if (isl_point_is_void(point.get()) == isl_bool_true) return std::nullopt;
  std::vector<int64_t> values;
  for (size_t i = 0; i < members_.size(); ++i) {
    const IslVal value(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(i)));
    TILE_TUNE_CHECK(status(value != nullptr));
    values.push_back(isl_val_get_num_si(value.get()));
  }
  TILE_TUNE_CHECK(status(true));
  return values;
}

// isl can return a partial result after it has hit the limit, so the context's error decides, too. Once nothing is
// left to work on it may report another error than the limit; only what was found and does not fit 64 bits is too
// large.
Result<void> IntegerSet::status(bool succeeded) const {
  const isl_error error = isl_ctx_last_error(context_);
  if (!too_large_ && succeeded && error == isl_error_none) return {};
  if (too_large_ || (succeeded && error != isl_error_quota)) return too_large();
  return failure("domain-too-complex", "the set of valid index values is too complex to analyse",
                 "split the statement, or use fewer indices in one constraint");
}

Result<std::optional<Box>> tight_box(size_t count, const std::vector<Relation>& relations) {
  Box box(count);
  Operations operations;
  for (const auto& group : tied_groups(relations)) {
    if (const auto values = group.members.size() == 1 ? solve_single(group) : std::nullopt) {
      if (values->hi < values->lo) return std::nullopt;
      box[group.members[0]] = {values->lo, values->hi + 1};
      continue;
    }
    const IntegerSet set(operations, group.members, group.relations);
    TILE_TUNE_TRY(empty, set.is_empty());
    if (empty) return std::nullopt;
    for (const int member : group.members) {
      TILE_TUNE_TRY(values, set.numerator_bounds(AffineExpr::index(member)));
      box[member] = {values.lo, values.hi + 1};
    }
  }
  return box;
}

}  // namespace tile_tune::ir
