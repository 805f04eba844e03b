#include "codegen/lower/signs.h"

#include <cstdint>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;

Type word_type(const Type& type) { return Halide::UInt(type.bits()); }
uint64_t sign_of(const Type& type) { return uint64_t{1} << (type.bits() - 1); }

}  // namespace

Expr negated(const Expr& x) {
  const Expr sign = Halide::Internal::make_const(word_type(x.type()), sign_of(x.type()));
  return Halide::reinterpret(x.type(), word_of(x) ^ sign);
}

Expr magnitude(const Expr& x) {
  const Expr others = Halide::Internal::make_const(word_type(x.type()), sign_of(x.type()) - 1);
  return Halide::reinterpret(x.type(), word_of(x) & others);
}

Expr word_of(const Expr& x) { return x.type().is_float() ? Halide::reinterpret(word_type(x.type()), x) : x; }

Expr value_of(const Type& type, const Expr& word) { return type.is_float() ? Halide::reinterpret(type, word) : word; }

Expr chosen(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  return value_of(if_true.type(), Halide::select(condition, word_of(if_true), word_of(if_false)));
}

}  // namespace tile_tune::codegen
