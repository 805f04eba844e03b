#include "frontend/tc/builtins.h"

#include <algorithm>
#include <array>

namespace tile_tune::tc {
namespace {

using ir::Op;
using enum Builtin::Typing;

// Sorted by name for binary search.
constexpr std::array kBuiltins{
    Builtin{"abs", Op::Abs, 1, Keeps},           Builtin{"acos", Op::Acos, 1, Float},
    Builtin{"acosh", Op::Acosh, 1, Float},       Builtin{"asin", Op::Asin, 1, Float},
    Builtin{"asinh", Op::Asinh, 1, Float},       Builtin{"atan", Op::Atan, 1, Float},
    Builtin{"atan2", Op::Atan2, 2, Float},       Builtin{"atanh", Op::Atanh, 1, Float},
    Builtin{"cbrt", Op::Cbrt, 1, Float},         Builtin{"ceil", Op::Ceil, 1, Float},
    Builtin{"copysign", Op::Copysign, 2, Float}, Builtin{"cos", Op::Cos, 1, Float},
    Builtin{"cosh", Op::Cosh, 1, Float},         Builtin{"erf", Op::Erf, 1, Float},
    Builtin{"erfc", Op::Erfc, 1, Float},         Builtin{"exp", Op::Exp, 1, Float},
    Builtin{"exp10", Op::Exp10, 1, Float},       Builtin{"exp2", Op::Exp2, 1, Float},
    Builtin{"expm1", Op::Expm1, 1, Float},       Builtin{"fabs", Op::Abs, 1, Float},
    Builtin{"fdim", Op::Fdim, 2, Float},         Builtin{"floor", Op::Floor, 1, Float},
    Builtin{"fma", Op::Fma, 3, Float},           Builtin{"fmax", Op::Fmax, 2, Float},
    Builtin{"fmin", Op::Fmin, 2, Float},         Builtin{"fmod", Op::Fmod, 2, Float},
    Builtin{"hypot", Op::Hypot, 2, Float},       Builtin{"isnan", Op::IsNan, 1, IsFloat},
    Builtin{"lgamma", Op::Lgamma, 1, Float},     Builtin{"log", Op::Log, 1, Float},
    Builtin{"log10", Op::Log10, 1, Float},       Builtin{"log1p", Op::Log1p, 1, Float},
    Builtin{"log2", Op::Log2, 1, Float},         Builtin{"max", Op::Max, 2, Keeps},
    Builtin{"min", Op::Min, 2, Keeps},           Builtin{"pow", Op::Pow, 2, Float},
    Builtin{"relu", Op::Relu, 1, Keeps},         Builtin{"round", Op::Round, 1, Float},
    Builtin{"rsqrt", Op::Rsqrt, 1, Float},       Builtin{"select", Op::Select, 3, Select},
    Builtin{"sigmoid", Op::Sigmoid, 1, Float},   Builtin{"sign", Op::Sign, 1, Keeps},
    Builtin{"sin", Op::Sin, 1, Float},           Builtin{"sinh", Op::Sinh, 1, Float},
    Builtin{"sqrt", Op::Sqrt, 1, Float},         Builtin{"tan", Op::Tan, 1, Float},
    Builtin{"tanh", Op::Tanh, 1, Float},         Builtin{"tgamma", Op::Tgamma, 1, Float},
    Builtin{"trunc", Op::Trunc, 1, Float},
};
static_assert(std::is_sorted(kBuiltins.begin(), kBuiltins.end(),
                             [](const Builtin& a, const Builtin& b) { return a.name < b.name; }));

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  const auto found =
      std::lower_bound(kBuiltins.begin(), kBuiltins.end(), name,
                       [](const Builtin& builtin, std::string_view wanted) { return builtin.name < wanted; });
  return found != kBuiltins.end() && found->name == name ? &*found : nullptr;
}

}  // namespace tile_tune::tc
