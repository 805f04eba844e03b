#include "codegen/lower/product.h"

#include <limits>
#include <tuple>

namespace tile_tune::codegen {
namespace {

struct Factor {
  Values value;
  std::vector<bool> varies;  // with which indices
};

// Factors in order of appearance.
void flatten(const ir::Expr& expr, std::vector<const ir::Expr*>& factors) {
  const auto* call = std::get_if<ir::Call>(&expr.node);
  if (!call || call->op != ir::Op::Mul) {
    factors.push_back(&expr);
    return;
  }
  for (const auto& argument : call->arguments) flatten(*argument, factors);
}

std::vector<bool> either(std::vector<bool> a, const std::vector<bool>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}

// How many different values there are of what varies with these indices, in vectors along the contiguous loop: of 16
// lanes, the widest, on every machine.
double count_values(const Loops& loops, int contiguous, const std::vector<bool>& varies) {
  constexpr double kLanes = 16;
  double count = 1;
  for (int p = 0; p < static_cast<int>(loops.output.size()); ++p)
    if (varies[static_cast<size_t>(loops.output_index[p])])
      count *= static_cast<double>(loops.output[p]) / (p == contiguous ? kLanes : 1);
  for (size_t r = 0; r < loops.reduction.size(); ++r)
    if (varies[static_cast<size_t>(loops.reduction_index[r])]) count *= static_cast<double>(loops.reduction[r]);
  return count;
}

}  // namespace

std::optional<Values> multiply_factors(const ir::Expr& term, const std::vector<Halide::Expr>& indices,
                                       const ReadOperand& read_operand, const Loops& loops, int contiguous) {
  std::vector<const ir::Expr*> parts;
  flatten(term, parts);
  if (parts.size() < 3 || !is_float(term.type) || is_complex(term.type)) return std::nullopt;
  std::vector<Factor> factors;
  int reads = 0;  // operands are numbered over the whole term
  for (const auto* part : parts) {
    Factor factor{{}, std::vector<bool>(indices.size())};
    for (const int index : ir::indices_of(*part)) factor.varies[static_cast<size_t>(index)] = true;
    factor.value = to_halide(*part, indices, [&](int number, const ir::Read& read, const auto& subscripts) {
      return read_operand(reads + number, read, subscripts);
    });
    ir::for_each_read(*part, [&](const ir::Read&) { ++reads; });
    factors.push_back(std::move(factor));
  }
  while (factors.size() > 1) {
    size_t first = 0, second = 1;
    double fewest = std::numeric_limits<double>::infinity();
    for (size_t a = 0; a < factors.size(); ++a)
      for (size_t b = a + 1; b < factors.size(); ++b)
        if (const double count = count_values(loops, contiguous, either(factors[a].varies, factors[b].varies));
            count < fewest)
          std::tie(fewest, first, second) = std::tuple(count, a, b);
    factors[first] = {{factors[first].value[0] * factors[second].value[0]},
                      either(factors[first].varies, factors[second].varies)};
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return std::move(factors.front().value);
}

}  // namespace tile_tune::codegen
