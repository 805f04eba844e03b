// The built-in functions; their names are reserved (docs/tc.md, "Grammar").
#pragma once

#include <optional>
#include <string_view>

#include "frontend/ir/expr.h"

namespace tile_tune::tc {

struct Builtin {
  /// How the result's type follows from the arguments' common type.
  enum class Typing {
    Keeps,    // the common type: abs, min, max, relu, sign
    Float,    // the common type, float32 for integers
    IsFloat,  // argument as for Float, result bool
    Select,   // first argument bool, the others as for Keeps
  };
  std::string_view name;
  ir::Op op;
  size_t arity;
  Typing typing;
};

const Builtin* find_builtin(std::string_view name);

}  // namespace tile_tune::tc
