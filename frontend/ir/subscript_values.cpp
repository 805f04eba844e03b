#include "frontend/ir/subscript_values.h"

#include <algorithm>
#include <iterator>

namespace tile_tune::ir {
namespace {

// A hundredth of a second for subscripts of a few operations.
constexpr int64_t kMaxPoints = 100'000;

bool fits(DType type, __int128 value) {
  const int bits = 8 * static_cast<int>(dtype_size(type));
  const __int128 span = __int128{1} << (is_signed(type) ? bits - 1 : bits);
  return value < span && value >= (is_signed(type) ? -span : 0) && value <= INT64_MAX && value >= INT64_MIN;
}

std::optional<__int128> apply(Op op, __int128 a, __int128 b) {
  const auto floor = [&] { return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0); };
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::Div:
      return b == 0 ? std::nullopt : std::optional(floor());
    case Op::Mod:
      return b == 0 ? std::nullopt : std::optional(a - floor() * b);
    default:
      return std::nullopt;
  }
}

/// nullopt where the value is not known without arithmetic that wraps.
std::optional<__int128> evaluate(const Expr& expr, const std::vector<int64_t>& point) {
  std::optional<__int128> value;
  if (!is_integer(expr.type)) return std::nullopt;
  if (const auto* literal = std::get_if<Literal>(&expr.node)) {
    if (const auto* number = std::get_if<int64_t>(&literal->value)) value = *number;
  } else if (const auto* index = std::get_if<IndexValue>(&expr.node)) {
    value = point[index->index];
  } else if (const auto* size = std::get_if<SizeValue>(&expr.node)) {
    if (const auto number = size->size.constant()) value = *number;
  } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
    value = evaluate(*cast->argument, point);
  } else if (const auto* call = std::get_if<Call>(&expr.node)) {
    const auto first = evaluate(*call->arguments[0], point);
    if (!first) return std::nullopt;
    if (call->op == Op::Neg) {
      value = -*first;
    } else if (call->arguments.size() == 2) {
      if (const auto second = evaluate(*call->arguments[1], point)) value = apply(call->op, *first, *second);
    }
  }
  return value && fits(expr.type, *value) ? value : std::nullopt;
}

bool holds(const Relation& relation, const std::vector<int64_t>& point) {
  __int128 numerator = relation.expr.constant.constant().value();
  for (const auto& [index, coefficient] : relation.expr.terms) numerator += __int128{coefficient} * point[index];
  if (numerator % relation.expr.denominator != 0) return false;
  const __int128 value = numerator / relation.expr.denominator;
  return !relation.bound || (value >= 0 && value < *relation.bound);
}

/// The relations among these indices alone; nullopt if one ties them to others.
std::optional<std::vector<Relation>> relations_among(const std::vector<int>& indices,
                                                     const std::vector<Relation>& relations) {
  std::vector<Relation> among;
  for (const auto& relation : relations) {
    const auto& terms = relation.expr.terms;
    const auto used = std::count_if(terms.begin(), terms.end(), [&](const auto& term) {
      return std::binary_search(indices.begin(), indices.end(), term.first);
    });
    // A relation among others, too, may leave the statement without a point.
    if (used != static_cast<std::ptrdiff_t>(terms.size()) || terms.empty()) return std::nullopt;
    among.push_back(relation);
  }
  return among;
}

}  // namespace

std::optional<Interval> values_by_points(const Statement& statement, const std::vector<Relation>& relations,
                                         const Expr& subscript, const Formula& where) {
  std::vector<int> indices;
  std::ranges::set_union(indices_of(subscript), indices_of(where), std::back_inserter(indices));
  const Box box = box_of(statement);
  int64_t points = 1;
  for (const int index : indices)
    if (__builtin_mul_overflow(points, box[index].extent(), &points) || points > kMaxPoints) return std::nullopt;
  const auto among = relations_among(indices, relations);
  if (!among) return std::nullopt;
  std::vector<int64_t> point(box.size());
  std::optional<Interval> values;
  for (int64_t number = 0; number < points; ++number) {
    int64_t rest = number;
    for (const int index : indices) {
      const int64_t extent = std::max<int64_t>(box[index].extent(), 1);  // beside one of 0 there is no point
      point[index] = box[index].lo + rest % extent;
      rest /= extent;
    }
    if (!holds_at(where, point) ||
        !std::all_of(among->begin(), among->end(), [&](const Relation& relation) { return holds(relation, point); }))
      continue;
    const auto value = evaluate(subscript, point);
    if (!value) return std::nullopt;
    const auto one = static_cast<int64_t>(*value);
    values = values ? Interval{std::min(values->lo, one), std::max(values->hi, one)} : Interval{one, one};
  }
  return values;
}

}  // namespace tile_tune::ir
