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

int64_t all_of(const ir::Expr& term) {
  if (const auto* cast = std::get_if<ir::Cast>(&term.node)) return all_of(*cast->argument);
  const auto* call = std::get_if<ir::Call>(&term.node);
  if (!call) return 0;
  int64_t operations = operations_of(call->op);
  for (const auto& argument : call->arguments) operations += all_of(*argument);
  return operations;
}

// Calls that are one operation each.
int64_t simple_operations(const ir::Expr& term) {
  if (const auto* cast = std::get_if<ir::Cast>(&term.node)) return simple_operations(*cast->argument);
  const auto* call = std::get_if<ir::Call>(&term.node);
  if (!call) return 0;
  int64_t operations = operations_of(call->op) == 0 ? 1 : 0;
  for (const auto& argument : call->arguments) operations += simple_operations(*argument);
  return operations;
}

}  // namespace

int64_t operations_of_iteration(const ir::Statement& statement) {
  const auto* call = std::get_if<ir::Call>(&statement.value->node);
  const bool is_fused = call && call->op == ir::Op::Mul && statement.op == ir::Aggregation::Sum;
  const int64_t term = operations_of_functions(*statement.value) + simple_operations(*statement.value);
  return std::max<int64_t>(term + (statement.op == ir::Aggregation::Assign || is_fused ? 0 : 1), 1);
}

int64_t operations_of_functions(const ir::Expr& term) { return std::min(all_of(term), costs::kMostOfFunctions); }

}  // namespace tile_tune::search
