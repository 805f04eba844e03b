#include "search/space/small_variant.h"

#include <array>

#include "frontend/ir/canonical.h"

namespace tile_tune::search {
namespace {

// The reference takes some 30 ns an operation, so this much is checked in about 0.1 s.
constexpr double kMostFlops = 4e6;

constexpr std::array<std::array<int64_t, 4>, 3> kPrimes{{{67, 71, 73, 79}, {37, 41, 43, 47}, {17, 19, 23, 29}}};

}  // namespace

std::optional<ir::Program> small_variant(const ir::Program& program, const ir::Sizes& sizes) {
  for (const auto& primes : kPrimes) {
    ir::Sizes small;
    size_t next = 0;
    for (const auto& name : program.sizes) {
      const int64_t size = sizes.at(name);
      const int64_t prime = primes[next++ % primes.size()];
      small[name] = size <= 16 || size <= prime ? size : prime;
    }
    if (small == sizes) return std::nullopt;
    const auto bound = ir::bind(program, small);
    if (bound && ir::flops(*bound) <= kMostFlops) return ir::canonicalize(*bound);
  }
  return std::nullopt;
}

}  // namespace tile_tune::search
