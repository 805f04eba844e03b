// Names for values that are used several times.
#pragma once

#include <string>

#include "Halide.h"

namespace tile_tune::codegen {

/// f(x) with a name for x, which f uses several times: Halide walks expressions as trees until it has found their
/// common parts, and a chain of 50 maxima, each naming the one before three times, would never end.
template <typename Function>
Halide::Expr named(const Halide::Expr& x, const Function& f) {
  if (x.as<Halide::Internal::Variable>() || Halide::Internal::is_const(x)) return f(x);
  const std::string name = Halide::Internal::unique_name('v');
  return Halide::Internal::Let::make(name, x, f(Halide::Internal::Variable::make(x.type(), name)));
}

}  // namespace tile_tune::codegen
