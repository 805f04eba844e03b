#include "frontend/ir/change_of_variables.h"

#include <algorithm>

namespace tile_tune::ir {
namespace {

// The representative of a modulo m that is smallest in magnitude.
int64_t centred(int64_t a, int64_t m) {
  const int64_t r = a % m;
  if (r > m / 2) return r - m;
  return r < -(m - 1) / 2 ? r + m : r;
}

}  // namespace

ChangeOfVariables::ChangeOfVariables(size_t count) : columns_(count, std::vector<int64_t>(count)), offset_(count) {
  for (size_t k = 0; k < count; ++k) columns_[k][k] = 1;
}

int64_t ChangeOfVariables::checked_add(int64_t a, int64_t b) const {
  int64_t sum = 0;
  overflowed_ |= __builtin_add_overflow(a, b, &sum);
  return sum;
}

int64_t ChangeOfVariables::checked_multiply(int64_t a, int64_t b) const {
  int64_t product = 0;
  overflowed_ |= __builtin_mul_overflow(a, b, &product);
  return product;
}

void ChangeOfVariables::add(size_t to, size_t from, int64_t factor) {
  for (size_t i = 0; i < size(); ++i)
    columns_[to][i] = checked_add(columns_[to][i], checked_multiply(factor, columns_[from][i]));
}

void ChangeOfVariables::scale(size_t k, int64_t factor) {
  for (auto& entry : columns_[k]) entry = checked_multiply(entry, factor);
}

void ChangeOfVariables::shift(size_t k, int64_t by) {
  for (size_t i = 0; i < size(); ++i) offset_[i] = checked_add(offset_[i], checked_multiply(by, columns_[k][i]));
}

// In 128 bits: large products cancel where an elimination leaves 0.
int64_t ChangeOfVariables::checked_dot(const AffineExpr& expr, const std::vector<int64_t>& x, int64_t constant) const {
  __int128 sum = constant;
  for (const auto& [index, value] : expr.terms)
    overflowed_ |= __builtin_add_overflow(sum, __int128{value} * x[index], &sum);
  const auto result = static_cast<int64_t>(sum);
  overflowed_ |= result != sum;
  return result;
}

int64_t ChangeOfVariables::coefficient(const AffineExpr& expr, size_t k) const {
  return checked_dot(expr, columns_[k], 0);
}

int64_t ChangeOfVariables::constant(const AffineExpr& expr) const {
  return checked_dot(expr, offset_, expr.constant.constant().value());
}

AffineExpr ChangeOfVariables::apply(const AffineExpr& expr) const {
  AffineExpr result{{}, 0, expr.denominator};
  bool divides = constant(expr) % expr.denominator == 0;
  for (size_t k = 0; k < size(); ++k)
    if (const int64_t value = coefficient(expr, k); value != 0) {
      result.terms.emplace_back(static_cast<int>(k), value);
      divides &= value % expr.denominator == 0;
    }
  if (divides) {
    for (auto& term : result.terms) term.second /= expr.denominator;
    result.denominator = 1;
  }
  result.constant = constant(expr) / (divides ? expr.denominator : 1);
  return result;
}

bool ChangeOfVariables::keeps(size_t i) const {
  for (size_t k = 0; k < size(); ++k)
    if (columns_[k][i] != (k == i ? 1 : 0)) return false;
  return offset_[i] == 0;
}

std::vector<int64_t> ChangeOfVariables::old_point(const std::vector<int64_t>& y) const {
  std::vector<int64_t> x = offset_;
  for (size_t k = 0; k < size(); ++k)
    for (size_t i = 0; i < size(); ++i) x[i] = checked_add(x[i], checked_multiply(columns_[k][i], y[k]));
  return x;
}

std::optional<size_t> ChangeOfVariables::concentrate(const AffineExpr& expr, const std::vector<size_t>& among,
                                                     int64_t modulus) {
  const auto value = [&](size_t k) {
    const int64_t exact = coefficient(expr, k);
    return modulus == 0 ? exact : centred(exact, modulus);
  };
  while (!overflowed_) {
    std::optional<size_t> pivot;
    for (const size_t k : among)
      if (value(k) != 0 && (!pivot || magnitude(value(k)) < magnitude(value(*pivot)))) pivot = k;
    if (!pivot) return std::nullopt;
    // INT64_MIN has no quotient by -1; nothing that large comes from tensors that exist.
    const int64_t by = value(*pivot);
    if (magnitude(by) > INT64_MAX / 2) overflowed_ = true;
    bool alone = true;
    for (const size_t k : among) {
      if (k == *pivot || value(k) == 0) continue;
      if (magnitude(value(k)) > INT64_MAX / 2) overflowed_ = true;
      if (overflowed_) break;
      add(k, *pivot, -(value(k) / by));
      alone &= value(k) == 0;
    }
    if (!alone) continue;
    if (value(*pivot) < 0) negate(*pivot);
    return pivot;
  }
  return std::nullopt;
}

}  // namespace tile_tune::ir
