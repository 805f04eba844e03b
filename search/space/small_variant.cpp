#include "search/space/small_variant.h"

#include "frontend/ir/canonical.h"
#include "search/space/shrink.h"

namespace tile_tune::search {
namespace {

// The reference takes some 30 ns an operation, so this much is checked in about 0.1 s.
constexpr double kMostWork = 4e6;

/// Operations, and elements, of which those that are only moved take time, too.
double work(const ir::Program& program) {
  double total = ir::flops(program);
  for (const auto& tensor : program.tensors) total += static_cast<double>(ir::element_count(tensor));
  return total;
}

constexpr SmallSizes kSmall[]{
    {{67, 71, 73, 79}, 16}, {{37, 41, 43, 47}, 16}, {{17, 19, 23, 29}, 16}, {{7, 11, 5, 13}, 4}, {{5, 3, 7, 3}, 2}};

/// At the primes; nothing if that changes none of the sizes or fits no program.
std::optional<ir::Program> at_primes(const ir::Program& program, const ir::Sizes& sizes, const SmallSizes& of) {
  ir::Sizes small;
  size_t next = 0;
  for (const auto& name : program.sizes) {
    const int64_t size = sizes.at(name), prime = of.primes[next++ % of.primes.size()];
    small[name] = size <= of.kept || size <= prime ? size : prime;
  }
  if (small == sizes) return std::nullopt;
  auto bound = ir::bind(program, small);
  return bound ? std::optional(std::move(*bound)) : std::nullopt;
}

}  // namespace

std::optional<ir::Program> small_variant(const ir::Program& program, const ir::Sizes& sizes) {
  for (const auto& of : kSmall)
    if (const auto small = at_primes(program, sizes, of); small && work(*small) <= kMostWork)
      return ir::canonicalize(*small);
  const auto bound = ir::bind(program, sizes);
  if (!bound) return std::nullopt;
  for (const auto& of : kSmall)
    if (const auto small = shrunk(*bound, of); small && work(*small) <= kMostWork) return ir::canonicalize(*small);
  return std::nullopt;
}

}  // namespace tile_tune::search
