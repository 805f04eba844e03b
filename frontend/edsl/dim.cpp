// TensorDim: numbers that may not be known yet.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"

namespace tile_tune::edsl {

namespace {

[[noreturn]] void overflow(const Where& where) { raise("overflow", "the size leaves 64 bits", where); }

}  // namespace

int64_t detail::to_int64(uint64_t value, const Where& where) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) overflow(where);
  return static_cast<int64_t>(value);
}

int64_t TensorDim::value(const Where& where) const {
  if (!value_) raise("unbound-dim", "a TensorDim is used before it has a value", where, "give it one with bind_dims");
  return *value_;
}

TensorDim operator+(const DimArg& a, const DimArg& b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a.value(), b.value(), &result)) overflow(a.where);
  return result;
}

TensorDim operator-(const DimArg& a, const DimArg& b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a.value(), b.value(), &result)) overflow(a.where);
  return result;
}

TensorDim operator-(const DimArg& a) { return DimArg(0, a.where) - a; }

TensorDim operator*(const DimArg& a, const DimArg& b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a.value(), b.value(), &result)) overflow(a.where);
  return result;
}

TensorDim operator/(const DimArg& a, const DimArg& b) {
  const int64_t dividend = a.value(), divisor = b.value();
  if (divisor == 0) raise("division-by-zero", "a size is divided by 0", b.where);
  if (divisor == -1) return -a;  // the smallest integer has no negative
  return dividend / divisor;
}

TensorDim min(const TensorDim& a, const TensorDim& b, const Where& where) {
  return std::min(a.value(where), b.value(where));
}

TensorDim max(const TensorDim& a, const TensorDim& b, const Where& where) {
  return std::max(a.value(where), b.value(where));
}

std::ostream& operator<<(std::ostream& stream, const TensorDim& dim) {
  if (!dim.value_) return stream << "unbound";
  return stream << *dim.value_;
}

}  // namespace tile_tune::edsl
