#include "codegen/lower/signs.h"

#include <cstdint>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Type;

Type word_of(const Type& type) { return Halide::UInt(type.bits()); }
Expr bits_of(const Expr& x) { return Halide::reinterpret(word_of(x.type()), x); }
uint64_t sign_of(const Type& type) { return uint64_t{1} << (type.bits() - 1); }

}  // namespace

Expr negated(const Expr& x) {
  const Expr sign = Halide::Internal::make_const(word_of(x.type()), sign_of(x.type()));
  return Halide::reinterpret(x.type(), bits_of(x) ^ sign);
}

Expr magnitude(const Expr& x) {
  const Expr others = Halide::Internal::make_const(word_of(x.type()), sign_of(x.type()) - 1);
  return Halide::reinterpret(x.type(), bits_of(x) & others);
}

Expr chosen(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  const Type type = if_true.type();
  if (!type.is_float()) return Halide::select(condition, if_true, if_false);
  return Halide::reinterpret(type, Halide::select(condition, bits_of(if_true), bits_of(if_false)));
}

}  // namespace tile_tune::codegen
