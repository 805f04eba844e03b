#include "search/space/term_size.h"

#include <algorithm>

#include "codegen/target/costs.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

int64_t operations_of(ir::Op function) {
  switch (function) {
    using enum ir::Op;
    case Sin:
    case Cos:
    case Tan:
    case Pow:
    case Lgamma:
    case Tgamma:
      return costs::kLongFunction;
    case Acos:
    case Acosh:
    case Asin:
    case Asinh:
    case Atan:
    case Atan2:
    case Atanh:
    case Cbrt:
    case Cosh:
    case Erf:
    case Erfc:
    case Exp:
    case Exp2:
    case Exp10:
    case Expm1:
    case Fmod:
    case Log:
    case Log10:
    case Log1p:
    case Log2:
    case Sigmoid:
    case Sinh:
    case Tanh:
      return costs::kShortFunction;
    default:
      return 0;
  }
}

// `simple`: what a call counts that is no function.
int64_t all_of(const ir::Expr& term, int64_t simple) {
  if (const auto* cast = std::get_if<ir::Cast>(&term.node)) return all_of(*cast->argument, simple);
  const auto* call = std::get_if<ir::Call>(&term.node);
  if (!call) return 0;
  const int64_t of_function = operations_of(call->op);
  int64_t operations = of_function > 0 ? of_function : simple;
  for (const auto& argument : call->arguments) operations += all_of(*argument, simple);
  return operations;
}

}  // namespace

int64_t operations_of_iteration(const ir::Statement& statement) {
  const auto* call = std::get_if<ir::Call>(&statement.value->node);
  const bool is_fused = call && call->op == ir::Op::Mul && statement.op == ir::Aggregation::Sum;
  return all_of(*statement.value, 1) + (statement.op == ir::Aggregation::Assign || is_fused ? 0 : 1);
}

int64_t operations_of_functions(const ir::Expr& term) { return std::min(all_of(term, 0), costs::kMostOfFunctions); }

}  // namespace tile_tune::search
